/**
 * `x-jws-signature`: a detached JWS over the exact bytes of the body, in either OBIE profile (Decision C5; contract
 * SG1 to SG5). The signed protected header names the profile: A (v3.1.2) has `b64: false`, named in `crit`; B has no
 * `b64`.
 */
import { FlattenedSign, flattenedVerify } from "jose";
import type { Fault } from "../kernel/api_error.ts";
import { base64url } from "../kernel/identifiers.ts";
import { OBIE_CLAIM, SIGNATURE_ALG } from "../limits.ts";
import { decodeObject, isCanonicalBase64url, joseFailure, type JsonObject } from "./compact_jws.ts";
import type { NamedKey } from "./sealed_jwt.ts";

/** A: RFC 7797, unencoded payload. B: RFC 7515 App. F. */
export type SignatureProfile = "A" | "B";

/** A detached signature with a checked form and header, not verified yet. */
export interface UnverifiedSignature {
  readonly profile: SignatureProfile;
  readonly kid: string;
  readonly header: JsonObject;
  readonly protectedSegment: string;
  readonly signatureSegment: string;
}

/** A fault of the signature, with a code of contract SG5. */
export type SignatureFault = Fault & {
  readonly code:
    | "Signature.Malformed"
    | "Signature.MissingClaim"
    | "Signature.InvalidClaim"
    | "Signature.Invalid";
};

const DETACHED = /^([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]+)$/;
const MAX_SIGNATURE_CHARACTERS = 8192;
const CRITICAL: readonly string[] = ["b64", ...Object.values(OBIE_CLAIM)];
const MEMBERS = new Set(["alg", "kid", "typ", "cty", "crit", ...CRITICAL]);
const SHOWABLE_MEMBER = /^[A-Za-z0-9_#:./-]{1,64}$/; // other names are the caller's text and never shown

/** Checks the form and the header. Returns the first fault in the order of contract SG5. */
export function readDetachedJws(text: string): UnverifiedSignature | SignatureFault {
  const segments = text.length <= MAX_SIGNATURE_CHARACTERS ? DETACHED.exec(text) : null;
  const [, protectedSegment = "", signatureSegment = ""] = segments ?? [];
  if (
    segments === null || !isCanonicalBase64url(protectedSegment) || !isCanonicalBase64url(signatureSegment)
  ) {
    return fault("Signature.Malformed", "must be a compact JWS with an empty payload segment");
  }
  const decoded = decodeObject(protectedSegment);
  if (!decoded.ok) return fault("Signature.Malformed", "protected header must be one JSON object");
  const header = decoded.value;
  const missing = ["alg", "kid"].find((name) => !Object.hasOwn(header, name));
  if (missing !== undefined) return fault("Signature.MissingClaim", "header member is missing", missing);
  const wrong = wrongMember(header);
  if (wrong !== undefined) {
    const shown = SHOWABLE_MEMBER.test(wrong) ? wrong : undefined;
    return fault("Signature.InvalidClaim", "header member is not acceptable", shown);
  }
  const profile = header["b64"] === false ? "A" : "B";
  return { profile, kid: String(header["kid"]), header, protectedSegment, signatureSegment };
}

/** Verifies the signature over the exact bytes of the body. Returns undefined if it is valid. */
export async function verifyDetachedJws(
  signature: UnverifiedSignature,
  body: Uint8Array,
  key: CryptoKey,
): Promise<SignatureFault | undefined> {
  const payload = signature.profile === "A" ? body : base64url(body);
  try {
    await flattenedVerify(
      { protected: signature.protectedSegment, payload, signature: signature.signatureSegment },
      key,
      { algorithms: [SIGNATURE_ALG], crit: obieCrit() },
    );
    return undefined;
  } catch (error) {
    joseFailure(error); // rethrows what is not a JOSE failure
    return fault("Signature.Invalid", "does not verify over the body received");
  }
}

/**
 * Signs the bytes of a body as the platform. `issuer` and `trustAnchor` become the OBIE iss and tan claims. `iat` is
 * in Unix seconds.
 */
export async function signDetached(
  body: Uint8Array,
  signer: NamedKey,
  claims: {
    readonly profile: SignatureProfile;
    readonly iat: number;
    readonly issuer: string;
    readonly trustAnchor: string;
  },
): Promise<string> {
  const obie = {
    [OBIE_CLAIM.iat]: claims.iat,
    [OBIE_CLAIM.iss]: claims.issuer,
    [OBIE_CLAIM.tan]: claims.trustAnchor,
  };
  const crit = Object.values(OBIE_CLAIM);
  const base = { alg: SIGNATURE_ALG, kid: signer.kid, ...obie };
  const header = claims.profile === "A" ? { ...base, b64: false, crit: ["b64", ...crit] } : { ...base, crit };
  const signed = await new FlattenedSign(body).setProtectedHeader(header).sign(signer.key, {
    crit: obieCrit(),
  });
  return `${signed.protected}..${signed.signature}`;
}

export function isSignatureFault(reading: UnverifiedSignature | SignatureFault): reading is SignatureFault {
  return "code" in reading;
}

function wrongMember(header: JsonObject): string | undefined {
  if (header["alg"] !== SIGNATURE_ALG) return "alg";
  if (typeof header["kid"] !== "string" || header["kid"] === "") return "kid";
  if (Object.hasOwn(header, "typ") && header["typ"] !== "JOSE") return "typ";
  if (Object.hasOwn(header, "cty") && header["cty"] !== "json" && header["cty"] !== "application/json") {
    return "cty";
  }
  const unknown = Object.keys(header).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) return unknown;
  if (Object.hasOwn(header, "b64") && header["b64"] !== false) return "b64";
  return critFault(header) ? "crit" : undefined;
}

// RFC 7797 §6: b64 applies only if crit names it. jose alone would ignore an unnamed b64.
function critFault(header: JsonObject): boolean {
  const expected = CRITICAL.filter((name) => Object.hasOwn(header, name));
  if (!Object.hasOwn(header, "crit")) return expected.length > 0;
  const crit = header["crit"];
  if (!Array.isArray(crit) || crit.length === 0 || crit.length !== expected.length) return true;
  return !expected.every((name) => crit.includes(name));
}

function obieCrit(): { [name: string]: boolean } {
  return Object.fromEntries(Object.values(OBIE_CLAIM).map((name) => [name, true]));
}

function fault(code: SignatureFault["code"], message: string, member?: string): SignatureFault {
  return { code, message: `x-jws-signature ${message}`, path: member ?? "x-jws-signature" };
}
