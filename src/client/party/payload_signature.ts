/**
 * `x-jws-signature`: a detached JWS over the exact bytes of a body, made for requests and verified on responses, in
 * either OBIE profile (Decision C5; contract SG1, SG2). Never re-serialises the signed body.
 */
import { base64url, flattenedVerify, type FlattenedVerifyGetKey } from "jose";
import { UntrustedMessage } from "./errors.ts";
import { OBIE_CLAIM, SIGNATURE_ALG } from "./profile.ts";
import { signDetached, type Signer } from "./signer.ts";

/** `a`: raw payload (`b64: false`, OBIE v3.1.2). `b`: payload in base64url (no `b64`, OBIE v3.1.4 and later). */
export type SignatureProfile = "a" | "b";

/** The signer, and the two OBIE names of the signer and of its trust anchor. */
export interface PayloadSigner extends Signer {
  /** `org_id/software_client_id` for a TPP, `org_id` for a bank. */
  readonly iss: string;
  /** Host of the participants directory. */
  readonly tan: string;
  readonly profile: SignatureProfile;
}

const obieNames = [OBIE_CLAIM.iat, OBIE_CLAIM.iss, OBIE_CLAIM.tan];
// true: the member must be in the protected header. jose handles b64 itself.
const understood = Object.fromEntries(obieNames.map((name) => [name, true]));
const detachedForm = /^([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]+)$/;

/** The value of `x-jws-signature` for these body bytes. `now` in milliseconds. */
export async function signPayload(signer: PayloadSigner, body: Uint8Array, now: number): Promise<string> {
  const unencoded = signer.profile === "a";
  const header = {
    alg: SIGNATURE_ALG,
    kid: signer.kid,
    ...(unencoded ? { b64: false } : {}),
    [OBIE_CLAIM.iat]: Math.floor(now / 1000),
    [OBIE_CLAIM.iss]: signer.iss,
    [OBIE_CLAIM.tan]: signer.tan,
    crit: unencoded ? ["b64", ...obieNames] : obieNames,
  };
  return await signDetached(signer, header, body, unencoded);
}

/**
 * Verifies a response's `x-jws-signature` over the received bytes; the signed header determines the profile.
 * @throws {UntrustedMessage | JOSEError} if it is not a detached JWS of a platform key over exactly these bytes.
 */
export async function verifyPayload(
  signature: string,
  body: Uint8Array,
  keys: FlattenedVerifyGetKey,
): Promise<SignatureProfile> {
  const [, header, value] = detachedForm.exec(signature) ?? [];
  if (header === undefined || value === undefined) {
    throw new UntrustedMessage("x-jws-signature is not a detached JWS");
  }
  const profile = profileOf(header);
  const payload = profile === "a" ? body : base64url.encode(body);
  await flattenedVerify({ protected: header, payload, signature: value }, keys, {
    algorithms: [SIGNATURE_ALG],
    crit: understood,
  });
  return profile;
}

/**
 * Returns the content of an answer, whose signature is verified over the received bytes before they are parsed.
 * @throws {UntrustedMessage | JOSEError} if the platform has not signed it (contract SG6)
 */
export async function readSigned(
  { headers }: Pick<Response, "headers">,
  body: Uint8Array,
  keys: FlattenedVerifyGetKey,
): Promise<unknown> {
  const signature = headers.get("x-jws-signature");
  if (signature === null) throw new UntrustedMessage("The platform's answer has no x-jws-signature");
  await verifyPayload(signature, body, keys);
  return JSON.parse(new TextDecoder().decode(body));
}

function profileOf(protectedSegment: string): SignatureProfile {
  const header: unknown = JSON.parse(new TextDecoder().decode(base64url.decode(protectedSegment)));
  if (typeof header !== "object" || header === null || !("b64" in header)) return "b";
  const crit = "crit" in header ? header.crit : undefined;
  // RFC 7797 §6: jose would ignore a b64 that crit does not name.
  if (header.b64 !== false || !Array.isArray(crit) || !crit.includes("b64")) {
    throw new UntrustedMessage("x-jws-signature has a b64 member that is not false and critical");
  }
  return "a";
}
