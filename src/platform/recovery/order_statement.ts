/**
 * Verifies a bank's signed statement of its payment orders with a key of that bank, checks it against the hold, and
 * decodes it. No part of it is used before its signature is verified.
 */
import { unixSeconds } from "../../base/kernel/clock.ts";
import { no, type Verdict, yes } from "../../base/kernel/verdict.ts";
import { timeFault } from "../../base/jose/claim_times.ts";
import { type JsonObject, readCompactJws, verifyClaims } from "../../base/jose/compact_jws.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import { FUTURE_SKEW_SECONDS, MAX_BODY_BYTES } from "../../base/limits.ts";
import type { BankClient } from "../registration/client.ts";
import type { Hold } from "./hold.ts";
import { decodeStatement, type StatementPage } from "./order_statement_schema.ts";

/** `typ` of a statement (RFC 8725 §3.11). No other JWT of a bank has it. */
export const STATEMENT_TYPE = "order-statement+jwt";

/** The operator may get a statement from the bank by hand, so it is valid for up to a day. */
const MAX_LIFETIME_SECONDS = 86_400;

export interface StatementDeps {
  readonly keys: ParticipantKeySets;
  readonly authUrl: string;
  /** Milliseconds. */
  readonly now: number;
}

/** Returns the next page of the bank's statement, or why it cannot be used. */
export async function openStatement(
  deps: StatementDeps,
  bank: BankClient,
  hold: Hold,
  text: string,
): Promise<Verdict<StatementPage>> {
  const jws = readCompactJws(text, { maxCharacters: MAX_BODY_BYTES, typ: [STATEMENT_TYPE] });
  if (!jws.ok) return jws;
  const kid = jws.value.header["kid"];
  const key = typeof kid === "string" ? await deps.keys.signingKey(bank, kid) : undefined;
  if (key === undefined) return no("kid does not name a current signing key of the bank");
  const claims = await verifyClaims(jws.value, key);
  if (!claims.ok) return claims;
  const fault = claimFault(claims.value, bank, hold, deps);
  if (fault !== undefined) return no(fault);
  const decoded = decodeStatement(claims.value);
  if ("fault" in decoded) return no(decoded.fault);
  const { page } = decoded;
  if (page.since > hold.since) return no("Data.Since is later than the time that the inquiry named");
  if (page.after !== hold.after) return no("Data.After is not where the comparison goes on");
  if (page.next !== undefined && page.next === page.after) return no("Data.Next does not go on");
  return yes(page);
}

function claimFault(
  claims: JsonObject,
  bank: BankClient,
  hold: Hold,
  { authUrl, now }: StatementDeps,
): string | undefined {
  if (claims["iss"] !== bank.orgId) return "iss must be the bank's org_id";
  if (claims["aud"] !== authUrl) return "aud must be the platform's authorization host";
  const rules = { exp: "required", iat: "required", maxLifetime: MAX_LIFETIME_SECONDS } as const;
  const fault = timeFault(claims, rules, unixSeconds(now));
  if (fault !== undefined) return fault;
  // Before the restore the platform was still sending orders, so an earlier statement may lack some of them.
  return Number(claims["iat"]) < unixSeconds(hold.restoredAt) - FUTURE_SKEW_SECONDS
    ? "iat must be after the restore"
    : undefined;
}
