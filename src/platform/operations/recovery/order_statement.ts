/**
 * Verifies a bank's signed statement of its payment orders with a key of that bank, checks it against what was asked, and
 * decodes it. No part of it is used before its signature is verified.
 */
import { type Clock, unixSeconds } from "../../../base/kernel/clock.ts";
import {
  because,
  failed,
  faultText,
  mismatch,
  ok,
  type Reason,
  type Result,
} from "../../../base/kernel/result.ts";
import type { JsonObject, UnverifiedJws } from "../../../base/jose/compact_jws.ts";
import { type Signer, verifyJwt } from "../../../base/jose/verify_jwt.ts";
import type { ParticipantKeySets } from "../../core/participants/participant_keys.ts";
import { FUTURE_SKEW_SECONDS, MAX_BODY_BYTES } from "../../../base/limits.ts";
import type { BankClient } from "../../core/registration/client.ts";
import type { Inquiry } from "./hold.ts";
import { decodeStatement, STATEMENT_JWT, type StatementPage } from "./order_statement_schema.ts";

/** The operator may get a statement from the bank by hand, so it is valid for up to a day. */
const MAX_LIFETIME_SECONDS = 86_400;
const TIMES = { exp: "required", iat: "required", maxLifetime: MAX_LIFETIME_SECONDS } as const;

export interface StatementDeps {
  readonly keys: ParticipantKeySets;
  readonly authUrl: string;
  readonly clock: Clock;
}

/** Returns the next page of the bank's statement, or why it cannot be used. */
export async function openStatement(
  deps: StatementDeps,
  bank: BankClient,
  asked: Inquiry,
  text: string,
): Promise<Result<StatementPage, Reason>> {
  const statement = await verifyJwt(text, {
    maxCharacters: MAX_BODY_BYTES,
    typ: [STATEMENT_JWT.typ],
    findKey: (jws) => signingKeyOf(deps.keys, bank, jws),
    claims: (claims) => checkIssue(claims, bank, asked, deps.authUrl),
    times: { ...TIMES, clock: deps.clock },
  });
  if (!statement.ok) {
    const { fault } = statement;
    return "why" in fault ? failed(fault) : because(faultText(fault));
  }
  const decoded = decodeStatement(statement.value.claims);
  if (!decoded.ok) return decoded;
  const page = decoded.value;
  if (page.since > asked.since) return because("Data.Since is later than the time that the inquiry named");
  if (page.after !== asked.after) return because("Data.After is not where the comparison goes on");
  if (page.next !== undefined && page.next === page.after) return because("Data.Next does not go on");
  return ok(page);
}

async function signingKeyOf(
  keys: ParticipantKeySets,
  bank: BankClient,
  { header: { kid } }: UnverifiedJws,
): Promise<Result<Signer, Reason>> {
  const key = typeof kid === "string" ? await keys.signingKey(bank, kid) : undefined;
  return key === undefined ? because("kid does not name a current signing key of the bank") : ok({ key });
}

function checkIssue(
  claims: JsonObject,
  bank: BankClient,
  asked: Inquiry,
  authUrl: string,
): Result<JsonObject> {
  const { iss, aud, iat } = claims;
  if (iss !== bank.orgId) return mismatch("iss", "the bank's org_id", iss);
  if (aud !== authUrl) return mismatch("aud", "the platform's authorization host", aud);
  // Before the restore the platform was still sending orders, so an earlier statement may lack some of them. The
  // statement that answers an inquiry follows it.
  return Number(iat) < unixSeconds(asked.restoredAt) - FUTURE_SKEW_SECONDS
    ? mismatch("iat", "after the restore", iat)
    : ok(claims);
}
