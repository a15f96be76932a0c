/**
 * Decrypts the result JWT of a returning customer, verifies it with a key of the bank in the path, and decodes it. It
 * has no effect until its correlation id is matched to this browser's session (Decision B4).
 */
import { isAccountNumberLike } from "../../base/values/account.ts";
import { isUuid } from "../../base/kernel/identifiers.ts";
import { no, type Verdict, yes } from "../../base/kernel/verdict.ts";
import { timeFault, type TimeRules } from "../../base/jose/claim_times.ts";
import {
  type JsonObject,
  readCompactJws,
  unverifiedClaims,
  verifyClaims,
} from "../../base/jose/compact_jws.ts";
import { type NamedKey, openSealed } from "../../base/jose/sealed_jwt.ts";
import { EXPIRY_SKEW_SECONDS, MAX_JWT_CHARACTERS } from "../../base/limits.ts";
import { MAX_BANK_RETURN_SECONDS, MAX_JTI_CHARACTERS } from "../profile.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import type { BankClient } from "../registration/client.ts";
import { idPart, spentJwtKey } from "../store_keys.ts";
import type { Once } from "../../base/store/transaction.ts";

/** The result that the bank reports. */
export interface ScaResult {
  readonly outcome: "success" | "failure" | "unknown";
  /** Whether the bank reported insufficient funds (Decision G7). */
  readonly isShortOfFunds: boolean;
  /** The bank's own status text, stored in the history. */
  readonly status: string;
  /** The bank's opaque id of the customer; undefined if missing or similar to an account number. */
  readonly sub: string | undefined;
}

/**
 * A result that the bank signed for this platform. Only {@link openScaResponse} makes one. Whether it can be used
 * depends on its times and on the session that it names.
 */
export interface ScaResponse {
  readonly correlationId: string;
  /** The fault of its times, if any. The result is then ignored (Decision B4). */
  readonly timeFault: string | undefined;
  readonly refId: string;
  readonly debtorAccountPresent: string;
  readonly result: ScaResult;
  /** To be committed with the effect of the result. */
  readonly once: Once;
}

/** Dependencies. `now` is in Unix seconds. */
export interface ScaResponseDeps {
  readonly decrypters: readonly NamedKey[];
  readonly keys: ParticipantKeySets;
  readonly authUrl: string;
  readonly now: number;
}

const KID = /^[A-Za-z0-9_-]{27}=?$/; // base64url SHA-1
const MAX_SUB_CHARACTERS = 255;
/** `status_code` of a failure because of insufficient funds (Decision G7). */
const SHORT_OF_FUNDS = "insufficient_funds";

/** Decrypts and verifies a result JWT. Every failure gets the same page (contract BR17). */
export async function openScaResponse(
  deps: ScaResponseDeps,
  bank: BankClient,
  sealed: string,
): Promise<Verdict<ScaResponse>> {
  const inner = await openSealed(sealed, deps.decrypters);
  if (!inner.ok) return inner;
  const jws = readCompactJws(inner.value, { maxCharacters: MAX_JWT_CHARACTERS, typ: ["JWT"] });
  if (!jws.ok) return jws;
  const kid = jws.value.header["kid"];
  if (typeof kid !== "string" || !KID.test(kid)) return no("kid");
  const key = await deps.keys.signingKey(bank, kid); // the path's bank, never a bank named by the token (RFC 8725 §3.8)
  if (key === undefined) return no("kid is no signing key of this bank");
  const claims = await verifyClaims(jws.value, key);
  if (!claims.ok) return claims;
  const fault = claimFault(claims.value, bank, deps);
  return fault === undefined ? yes(await decode(claims.value, bank, deps)) : no(fault);
}

/** Returns the correlation id of an unverified result. Use it only to find a session of the same browser. */
export async function claimedCorrelationId(
  decrypters: readonly NamedKey[],
  sealed: string,
): Promise<string | undefined> {
  const inner = await openSealed(sealed, decrypters);
  const jws = inner.ok
    ? readCompactJws(inner.value, { maxCharacters: MAX_JWT_CHARACTERS, typ: ["JWT"] })
    : inner;
  const claims = jws.ok ? unverifiedClaims(jws.value) : jws;
  const id = claims.ok ? claims.value["correlation_id"] : undefined;
  return isUuid(id) ? id : undefined;
}

function claimFault(claims: JsonObject, bank: BankClient, deps: ScaResponseDeps): string | undefined {
  if (claims["iss"] !== bank.orgId) return "iss"; // Decision B3
  if (claims["aud"] !== deps.authUrl) return "aud"; // Decision A2, as a string
  if (claims["bank_id"] !== bank.code) return "bank_id"; // contract RT5: the redirection fails
  const text = ["jti", "correlation_id", "ref_id", "debtor_account_present"].find((name) => {
    const value = claims[name];
    return typeof value !== "string" || value === "" || value.length > MAX_JTI_CHARACTERS;
  });
  return text;
}

const TIMES: TimeRules = {
  exp: "required",
  iat: "required",
  maxLifetime: MAX_BANK_RETURN_SECONDS,
  maxAge: MAX_BANK_RETURN_SECONDS + EXPIRY_SKEW_SECONDS,
};

async function decode(claims: JsonObject, bank: BankClient, { now }: ScaResponseDeps): Promise<ScaResponse> {
  return {
    correlationId: String(claims["correlation_id"]),
    timeFault: timeFault(claims, TIMES, now),
    refId: String(claims["ref_id"]),
    debtorAccountPresent: String(claims["debtor_account_present"]),
    result: {
      outcome: outcomeOf(claims["status_code"]),
      isShortOfFunds: claims["status_code"] === SHORT_OF_FUNDS,
      status: printable(claims["status"]),
      sub: acceptableSub(claims["sub"]),
    },
    once: {
      key: spentJwtKey("bank_return", bank.code, await idPart(String(claims["jti"]))),
      expiresAt: Math.ceil(Number(claims["exp"]) + EXPIRY_SKEW_SECONDS) * 1000,
      rejection: "bank_return.not_authentic",
    },
  };
}

/** Decision B3: exact values only. Unknown values fail closed. */
function outcomeOf(statusCode: unknown): ScaResult["outcome"] {
  if (statusCode === "success" || statusCode === "200") return "success";
  return statusCode === "failure" || statusCode === SHORT_OF_FUNDS ? "failure" : "unknown";
}

function acceptableSub(sub: unknown): string | undefined {
  const usable = typeof sub === "string" && sub !== "" && sub.length <= MAX_SUB_CHARACTERS &&
    !isAccountNumberLike(sub);
  return usable ? sub : undefined;
}

function printable(status: unknown): string {
  return typeof status === "string" ? status.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 64) : "no status";
}
