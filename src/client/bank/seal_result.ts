/**
 * The result JWT to the platform and the URL that carries it (contract RT1 to RT9; Decisions A10, B3). The bank decides
 * the outcome.
 */
import { CompactEncrypt, type JWTPayload } from "jose";
import { CONTENT_ENCRYPTION_ALG, HANDOVER_SECONDS, KEY_MANAGEMENT_ALG } from "../party/profile.ts";
import type { BankReasonCode } from "../party/reason_codes.ts";
import { signJwt } from "../party/signer.ts";
import type { Bank } from "./bank.ts";
import type { Handover } from "./open_handover.ts";

/**
 * `insufficient_funds` is a failure with a reason for the TPP (Decision G7); `error` is neither success nor failure, so
 * the platform reports a server error (Decision B3).
 */
export type ResultStatusCode = "success" | "failure" | "insufficient_funds" | "error";

/** How the customer's visit ended. */
export interface ScaResult {
  readonly statusCode: ResultStatusCode;
  /** `status`: one word for the platform's history. */
  readonly status: string;
  /** Why it failed, for the TPP. */
  readonly reasonCode?: BankReasonCode | undefined;
  /** What `transactionDigest` returns for the consent that the customer was shown: proof of dynamic linking. */
  readonly transactionDigest?: string | undefined;
  /** End-user identifier, never an account number; equals `Data.Sub` of the accounts PUT. */
  readonly sub: string;
}

/** What seals a result. */
export type ResultSealer = Pick<Bank, "authUrl" | "code" | "signer" | "platformKeys" | "now">;

/**
 * Returns the platform's URL to which the customer's browser returns, with the sealed result. Call it once a visit: the
 * platform takes one result.
 *
 * @throws {UntrustedMessage | TypeError} if the platform's keys cannot be read
 */
export async function resultUrl(bank: ResultSealer, handover: Handover, result: ScaResult): Promise<string> {
  return await sealResult(bank, resultClaims(bank, handover, result));
}

/** The claims of a result JWT. */
export function resultClaims(
  { authUrl, code, now }: Pick<Bank, "authUrl" | "code" | "now">,
  handover: Handover,
  { sub, status, statusCode, reasonCode, transactionDigest }: ScaResult,
): JWTPayload & { readonly iat: number } {
  const iat = Math.floor(now() / 1000);
  return {
    iss: code,
    aud: authUrl, // Decision A2: the host, not the issuer
    iat,
    nbf: iat,
    exp: iat + HANDOVER_SECONDS,
    jti: crypto.randomUUID(),
    sub,
    debtor_account_present: String(handover.debtorAccountPresent),
    ref_id: handover.consentId,
    status,
    correlation_id: handover.correlationId,
    bank_id: code,
    status_code: statusCode,
    ...(reasonCode === undefined ? {} : { reason_code: reasonCode }),
    ...(transactionDigest === undefined ? {} : { transaction_digest: transactionDigest }),
  };
}

/** Signs the claims, encrypts them to the platform, and returns the URL that carries them. */
export async function sealResult(bank: ResultSealer, claims: JWTPayload): Promise<string> {
  return returnUrl(bank, await sealedResult(bank, claims));
}

/** Returns the URL to which the customer's browser returns with a sealed result. */
export function returnUrl({ authUrl, code }: Pick<Bank, "authUrl" | "code">, sealed: string): string {
  return `${authUrl}/${code}/authorization.sca.oauth2?oAuthUrl=${sealed}`;
}

/** Returns the platform's page on which the browser of a handover waits for a delivered result. */
export function waitingUrl(
  { authUrl, code }: Pick<Bank, "authUrl" | "code">,
  { correlationId }: Pick<Handover, "correlationId">,
): string {
  return `${authUrl}/${code}/authorization.waiting.oauth2?flow=${correlationId}`;
}

/** Signs the claims and encrypts them to the platform: a result for the URL, or to deliver. */
export async function sealedResult(
  { signer, platformKeys }: Pick<Bank, "signer" | "platformKeys">,
  claims: JWTPayload,
): Promise<string> {
  const [signed, { kid, key }] = await Promise.all([signJwt(signer, claims), platformKeys.encryptionKey()]);
  return await new CompactEncrypt(new TextEncoder().encode(signed))
    .setProtectedHeader({ alg: KEY_MANAGEMENT_ALG, enc: CONTENT_ENCRYPTION_ALG, cty: "JWT", kid })
    .encrypt(key);
}
