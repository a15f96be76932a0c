/** Which rejections are security events. A rejection may name another one itself (`ApiErrorParts.security`). */
import type { ApiError, ErrorReason, SecurityEvent } from "../../../base/kernel/api_error.ts";

const BY_REASON: Readonly<Partial<Record<ErrorReason, SecurityEvent>>> = {
  "dpop.key_mismatch": "security.proof_key_mismatch",
  "certificate.not_participants": "security.certificate_mismatch",
  "client.not_authenticated": "security.client_not_authenticated",
  "signature.invalid": "security.signature_invalid",
  "bank_return.not_authentic": "security.bank_return_not_authentic",
  "interaction.not_yours": "security.session_of_another_browser",
};

/** Returns the security event of a rejection, or undefined if it is none. */
export function securityEventOf({ reason, parts }: ApiError): SecurityEvent | undefined {
  return parts.security ?? BY_REASON[reason];
}
