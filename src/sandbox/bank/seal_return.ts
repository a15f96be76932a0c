/**
 * Builds the result JWT to the platform and the URL that carries it (contract RT1 to RT8; Decisions A10, B3). The
 * caller decides the outcome.
 */
import { CompactEncrypt, type JWTPayload, SignJWT } from "jose";
import {
  CONTENT_ENCRYPTION_ALG,
  HANDOVER_SECONDS,
  KEY_MANAGEMENT_ALG,
  SIGNATURE_ALG,
} from "../../client/party/profile.ts";
import type { BankKey } from "./bank_keys.ts";
import type { BankClock } from "./bank_profile.ts";
import type { Handover } from "./open_handover.ts";
import type { FaultName } from "./faults.ts";
import type { PlatformKeys } from "./platform_keys.ts";
import type { ReturnIds } from "./return_ids.ts";

/**
 * `status_code`: `insufficient_funds` is a failure with a reason for the TPP (Decision G7); `error` is neither success
 * nor failure, so the platform reports a server error (Decision B3).
 */
export type ReturnStatusCode = "success" | "failure" | "insufficient_funds" | "error";

/** How the customer's visit ended. */
export interface ScaResult {
  readonly statusCode: ReturnStatusCode;
  /** `status`: one word for the platform's history. */
  readonly status: string;
  /** End-user identifier, never an account number; equals `Data.Sub` of the accounts PUT. */
  readonly sub: string;
}

export interface SealReturnDeps {
  readonly authUrl: string;
  readonly bankCode: string;
  readonly orgId: string;
  readonly signing: BankKey;
  readonly platformKeys: PlatformKeys;
  readonly returnIds: ReturnIds;
  readonly clock: BankClock;
}

/** Returns the platform URL to which the browser returns, with the sealed result. */
export async function sealReturn(
  deps: SealReturnDeps,
  handover: Handover,
  result: ScaResult,
  fault?: FaultName,
): Promise<string> {
  const [signed, { kid, key }] = await Promise.all([
    sign(deps, returnClaims(deps, handover, result, fault)),
    deps.platformKeys.encryptionKey(),
  ]);
  const sealed = await new CompactEncrypt(new TextEncoder().encode(signed))
    .setProtectedHeader({ alg: KEY_MANAGEMENT_ALG, enc: CONTENT_ENCRYPTION_ALG, cty: "JWT", kid })
    .encrypt(key);
  return `${deps.authUrl}/${deps.bankCode}/authorization.sca.oauth2?oAuthUrl=${sealed}`;
}

function returnClaims(
  deps: SealReturnDeps,
  handover: Handover,
  result: ScaResult,
  fault: FaultName | undefined,
): JWTPayload {
  const late = fault === "expired_return" ? HANDOVER_SECONDS * 2 : 0;
  const now = Math.floor(deps.clock() / 1000) - late;
  return {
    iss: deps.orgId,
    aud: deps.authUrl, // Decision A2: the host, not the issuer
    iat: now,
    nbf: now,
    exp: now + HANDOVER_SECONDS,
    jti: fault === "replayed_return" ? deps.returnIds.last() : deps.returnIds.fresh(),
    sub: result.sub,
    debtor_account_present: String(handover.debtorAccountPresent),
    ref_id: handover.consentId,
    status: result.status,
    correlation_id: handover.correlationId,
    bank_id: fault === "wrong_bank_id" ? `NOT${deps.bankCode}` : deps.bankCode,
    status_code: result.statusCode,
  };
}

function sign(deps: SealReturnDeps, claims: JWTPayload): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: SIGNATURE_ALG, typ: "JWT", kid: deps.signing.kid })
    .sign(deps.signing.key);
}
