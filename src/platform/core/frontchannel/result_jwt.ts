/**
 * Decrypts the result JWT of a returning customer, verifies it with a key of the bank in the path, and decodes it. It
 * has no effect until its correlation id is matched to this browser's session (Decision B4).
 */
import { noteReceived } from "../../../base/http/context.ts";
import { isAccountNumberLike } from "../../../base/values/account.ts";
import { isUuid, sha256 } from "../../../base/kernel/identifiers.ts";
import { type Clock, unixSeconds, type WallTime } from "../../../base/kernel/clock.ts";
import { mismatch, ok, type Result } from "../../../base/kernel/result.ts";
import {
  anything,
  checkClaims,
  checkTimes,
  type ClaimRule,
  type ClaimsOf,
  type ClaimTimes,
  exactly,
  type Signer,
  text,
  type TimeRules,
  verifyJwt,
} from "../../../base/jose/verify_jwt.ts";
import {
  type JsonObject,
  readCompactJws,
  unverifiedClaims,
  type UnverifiedJws,
} from "../../../base/jose/compact_jws.ts";
import type { OwnKey } from "../../../base/jose/own_key.ts";
import { openSealed } from "../../../base/jose/sealed_jwt.ts";
import { EXPIRY_SKEW_SECONDS, MAX_JWT_CHARACTERS } from "../../../base/limits.ts";
import { MAX_BANK_RETURN_SECONDS, MAX_JTI_CHARACTERS } from "../../../base/profile.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { documentOfKey } from "../../evidence/evidence_store.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import { FAILURES, RESULT_JWT, type ResultClaim, SHORT_OF_FUNDS, SUCCESSES } from "./result_jwt_schema.ts";
import type { BankClient } from "../registration/client.ts";
import { asBankReasonCode, type BankReasonCode } from "../../../base/values/reason_codes.ts";
import { hasNoControl } from "../../guards/http/wire_fields.ts";
import { spentJwtKey } from "../../config/store_keys.ts";
import type { Once } from "../../../base/store/transaction.ts";

/** The result that the bank reports. */
export interface BankResult {
  readonly outcome: "success" | "failure" | "unknown";
  /** The bank's own code, quoted and bounded, for the bank's trace. */
  readonly statusCode?: string;
  /** Whether the bank reported insufficient funds (Decision G7). */
  readonly isShortOfFunds: boolean;
  /** The bank's code of a failure; absent if it is not one of the list (contract RSN5). */
  readonly reasonCode?: BankReasonCode;
  /** The bank's opaque id of the customer; absent if missing or similar to an account number. */
  readonly sub?: string;
}

/**
 * A result that the bank signed for this platform. Only {@link openResultJwt} makes one. Whether it can be used
 * depends on its times and on the session that it names.
 */
export interface ResultJwt {
  readonly correlationId: string;
  /** A result with a fault in its times is ignored (Decision B4). */
  readonly times: Result<ClaimTimes>;
  readonly refId: string;
  readonly debtorAccountPresent: string;
  /** Absent if the bank claims no dynamic linking (contract RT9). */
  readonly transactionDigest?: unknown;
  readonly result: BankResult;
  /** The JWT that the bank signed. */
  readonly jws: string;
  /** SHA-256 of the JWT, base64url. */
  readonly sha256: string;
  readonly evidence: Evidence;
  /** To be committed with the effect of the result. */
  readonly once: Once;
}

export interface ResultJwtDeps {
  readonly decrypters: readonly OwnKey[];
  readonly keys: ParticipantKeySets;
  readonly authUrl: string;
  readonly clock: Clock;
}

const HEADER = { maxCharacters: MAX_JWT_CHARACTERS, typ: [RESULT_JWT.typ] };
const TIMES: TimeRules = { // contract BR6
  exp: "required",
  iat: "required",
  maxLifetime: MAX_BANK_RETURN_SECONDS,
  maxAge: MAX_BANK_RETURN_SECONDS + EXPIRY_SKEW_SECONDS,
};
const KID = /^[A-Za-z0-9_-]{27}=?$/; // base64url SHA-1
const MAX_SUB_CHARACTERS = 255;

/**
 * Decrypts and verifies a result JWT. Faulty times do not reject it here, because the caller decides about them.
 * Every failure gets the same page (contract BR17).
 */
export async function openResultJwt(
  deps: ResultJwtDeps,
  bank: BankClient,
  sealed: string,
): Promise<Result<ResultJwt>> {
  const token = await openReceived(deps.decrypters, sealed); // contract BR2, BR3
  if (!token.ok) return token;
  const verified = await verifyJwt(token.value, {
    ...HEADER,
    findKey: (jws) => findSigner(deps.keys, bank, jws),
    claims: (claims) => checkResult(claims, bank, deps),
    times: "unchecked",
  });
  if (!verified.ok) return verified;
  const { claims, signer } = verified.value;
  const bytes = new TextEncoder().encode(token.value);
  const evidence: Evidence = { kind: "sca_result", bytes, key: documentOfKey(signer.key) };
  const decoded = decode(claims, bank, deps.clock());
  return ok({ ...decoded, jws: token.value, sha256: await sha256(token.value), evidence });
}

/** Returns the correlation id of an unverified result. Use it only to find a session of the same browser. */
export async function claimedCorrelationId(
  decrypters: readonly OwnKey[],
  sealed: string,
): Promise<Result<string>> {
  const token = await openReceived(decrypters, sealed);
  const jws = token.ok ? readCompactJws(token.value, HEADER) : token;
  const claims = jws.ok ? unverifiedClaims(jws.value) : jws;
  if (!claims.ok) return claims;
  const id = claims.value["correlation_id"];
  return isUuid(id) ? ok(id) : mismatch("correlation_id", "a UUID", id);
}

async function openReceived(decrypters: readonly OwnKey[], sealed: string): Promise<Result<string>> {
  const token = await openSealed(sealed, decrypters);
  if (token.ok) noteReceived("result JWT", token.value);
  return token;
}

/** The key is one of the path's bank, never of a bank that the token names (contract BR4; RFC 8725 §3.8). */
async function findSigner(
  keys: ParticipantKeySets,
  bank: BankClient,
  { header: { kid } }: UnverifiedJws,
): Promise<Result<Signer>> {
  if (typeof kid !== "string" || !KID.test(kid)) return mismatch("header kid", "a base64url SHA-1", kid);
  const key = await keys.signingKey(bank, kid);
  return key === undefined
    ? mismatch("header kid", "the kid of a current signing key of the bank", kid)
    : ok({ key });
}

interface CheckedResult {
  readonly claims: ClaimsOf<ReturnType<typeof rulesFor>>;
  readonly times: ResultJwt["times"];
}

function checkResult(
  received: JsonObject,
  bank: BankClient,
  { authUrl, clock }: ResultJwtDeps,
): Result<CheckedResult> {
  const claims = checkClaims(received, rulesFor(bank, authUrl));
  return claims.ok
    ? ok({ claims: claims.value, times: checkTimes(received, TIMES, unixSeconds(clock())) })
    : claims;
}

const required = text(MAX_JTI_CHARACTERS);

function rulesFor(bank: BankClient, authUrl: string) {
  return {
    iss: exactly(bank.orgId), // contract BR5, Decision B3
    aud: exactly(authUrl), // Decision A2, as a string
    bank_id: exactly(bank.code), // contract BR8, RT5: the redirection fails
    jti: required,
    correlation_id: required,
    ref_id: required,
    debtor_account_present: required,
    transaction_digest: anything,
    status_code: anything,
    status: anything,
    reason_code: anything,
    sub: anything,
    exp: anything,
  } satisfies Record<ResultClaim, ClaimRule<unknown>>;
}

function decode(
  { claims, times }: CheckedResult,
  bank: BankClient,
  now: WallTime,
): Omit<ResultJwt, "jws" | "sha256" | "evidence"> {
  return {
    correlationId: claims.correlation_id,
    times,
    refId: claims.ref_id,
    debtorAccountPresent: claims.debtor_account_present,
    ...(claims.transaction_digest === undefined ? {} : { transactionDigest: claims.transaction_digest }),
    result: {
      outcome: outcomeOf(claims.status_code),
      ...quoteStatusCode(claims.status_code),
      isShortOfFunds: claims.status_code === SHORT_OF_FUNDS,
      ...reasonOf(claims.reason_code),
      ...acceptableSub(claims.sub),
    },
    once: {
      key: spentJwtKey("bank_return", bank.code, claims.jti), // contract BR7
      expiresAt: usableUntil(times, now),
      rejection: "bank_return.not_authentic",
      fault: { at: "jti", expected: "new for each result", received: "one used before" },
    },
  };
}

/** Until when the result must be known as used. A result without acceptable times is never used in time. */
function usableUntil(times: ResultJwt["times"], now: WallTime): WallTime {
  const until = times.ok && times.value.exp !== undefined
    ? times.value.exp
    : unixSeconds(now) + MAX_BANK_RETURN_SECONDS;
  return Math.ceil(until + EXPIRY_SKEW_SECONDS) * 1000;
}

function quoteStatusCode(statusCode: unknown): { readonly statusCode?: string } {
  const { fault } = mismatch("status_code", "", statusCode);
  return fault.received === undefined ? {} : { statusCode: fault.received };
}

function reasonOf(code: unknown): Pick<BankResult, "reasonCode"> {
  const reasonCode = asBankReasonCode(code);
  return reasonCode === undefined ? {} : { reasonCode };
}

/** Contract BR11, Decision B3: exact values only. Unknown values fail closed. */
function outcomeOf(statusCode: unknown): BankResult["outcome"] {
  if (SUCCESSES.includes(statusCode)) return "success";
  return FAILURES.includes(statusCode) ? "failure" : "unknown";
}

/** Contract BR13. */
function acceptableSub(sub: unknown): Pick<BankResult, "sub"> {
  const usable = typeof sub === "string" && sub !== "" && sub.length <= MAX_SUB_CHARACTERS &&
    hasNoControl(sub) && !isAccountNumberLike(sub);
  return usable ? { sub } : {};
}
