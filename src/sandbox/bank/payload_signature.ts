/** Makes `x-jws-signature`: a detached JWS over the exact body bytes, in the bank's OBIE profile (Decision C5). */
import { FlattenedSign } from "jose";
import { OBIE_CLAIM, SIGNATURE_ALG } from "../../client/party/profile.ts";
import type { BankKey } from "./bank_keys.ts";
import type { SignatureProfile } from "./bank_profile.ts";

/** The signing key and the contents of the protected header. */
export interface PayloadSigner {
  readonly signing: BankKey;
  readonly signatureProfile: SignatureProfile;
  /** OBIE `iss`: a bank's `org_id`. */
  readonly orgId: string;
  /** OBIE `tan`: the directory's host. */
  readonly trustAnchor: string;
}

/** `BASE64URL(header)..BASE64URL(signature)` (RFC 7515 App. F) over these bytes. */
export async function signPayload(
  signer: PayloadSigner,
  body: Uint8Array,
  issuedAtSeconds: number,
): Promise<string> {
  const obieNames = Object.values(OBIE_CLAIM);
  const common = {
    alg: SIGNATURE_ALG,
    kid: signer.signing.kid,
    [OBIE_CLAIM.iat]: issuedAtSeconds,
    [OBIE_CLAIM.iss]: signer.orgId,
    [OBIE_CLAIM.tan]: signer.trustAnchor,
  };
  // Profile A signs the raw bytes (RFC 7797), profile B their base64url form. Profile B must not contain `b64`.
  const header = signer.signatureProfile === "A"
    ? { ...common, b64: false, crit: ["b64", ...obieNames] }
    : { ...common, crit: obieNames };
  const signed = await new FlattenedSign(body)
    .setProtectedHeader(header)
    .sign(signer.signing.key, { crit: Object.fromEntries(obieNames.map((name) => [name, true])) });
  return `${signed.protected}..${signed.signature}`;
}
