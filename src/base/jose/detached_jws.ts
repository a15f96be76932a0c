/**
 * `x-jws-signature`: a detached JWS over the exact bytes of the body, in either OBIE profile (Decision C5; contract
 * SG1 to SG5). The signed protected header names the profile: A (v3.1.2) has `b64: false`, named in `crit`; B has no
 * `b64`.
 */
import { flattenedVerify } from "jose";
import type { Fault } from "../kernel/api_error.ts";
import { base64url } from "../kernel/identifiers.ts";
import {
  explanation,
  type Failure,
  type Mismatch,
  mismatch,
  ok,
  type Result,
  WHOLE,
  within,
} from "../kernel/result.ts";
import { OBIE_CLAIM, SIGNATURE_ALG } from "../limits.ts";
import { decodeObject, isCanonicalBase64url, joseFailure, type JsonObject } from "./compact_jws.ts";
import { type OwnKey, signJws } from "./own_key.ts";

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
export type SignatureFault = Fault & Mismatch & {
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

/** Members that every signature has, with what is expected of them. */
const REQUIRED: Readonly<Record<string, string>> = { alg: SIGNATURE_ALG, kid: "the kid of your signing key" };

/**
 * Checks the form and the header. Returns the first fault in the order of contract SG5.
 *
 * @param claims OBIE claims that must be present
 */
export function readDetachedJws(
  text: string,
  claims: readonly string[] = [],
): Result<UnverifiedSignature, SignatureFault> {
  const segments = text.length <= MAX_SIGNATURE_CHARACTERS ? DETACHED.exec(text) : null;
  const [, protectedSegment = "", signatureSegment = ""] = segments ?? [];
  if (
    segments === null || !isCanonicalBase64url(protectedSegment) || !isCanonicalBase64url(signatureSegment)
  ) {
    const isOfThree = /^[^.]+\.\.[^.]+$/.test(text) && text.length <= MAX_SIGNATURE_CHARACTERS;
    const expected = isOfThree
      ? "header..signature, both in canonical base64url without padding (no =, + or /)"
      : "a compact JWS with an empty payload segment: header..signature";
    return signatureFault("Signature.Malformed", mismatch(WHOLE, expected));
  }
  const decoded = decodeObject("header", protectedSegment);
  if (!decoded.ok) return signatureFault("Signature.Malformed", decoded);
  const header = decoded.value;
  const missing = [...Object.keys(REQUIRED), ...claims].find((name) => !Object.hasOwn(header, name));
  if (missing !== undefined) {
    const expected = REQUIRED[missing] ?? "present and named in crit";
    return signatureFault("Signature.MissingClaim", mismatch(missing, expected), missing);
  }
  const checked = checkMembers(header);
  if (!checked.ok) return invalidMember(checked);
  const profile = header["b64"] === false ? "A" : "B";
  return ok({ profile, kid: String(header["kid"]), header, protectedSegment, signatureSegment });
}

/** Returns the fault of a header member that is present but not acceptable. */
export function invalidMember(failure: Failure): Failure<SignatureFault> {
  const { at } = failure.fault;
  const path = SHOWABLE_MEMBER.test(at) ? at : undefined;
  return signatureFault("Signature.InvalidClaim", failure, path);
}

/** Verifies the signature over the exact bytes of the body. */
export async function verifyDetachedJws(
  signature: UnverifiedSignature,
  body: Uint8Array,
  key: CryptoKey,
): Promise<Result<UnverifiedSignature, SignatureFault>> {
  const payload = signature.profile === "A" ? body : base64url(body);
  try {
    await flattenedVerify(
      { protected: signature.protectedSegment, payload, signature: signature.signatureSegment },
      key,
      { algorithms: [SIGNATURE_ALG], crit: obieCrit() },
    );
    return ok(signature);
  } catch (error) {
    joseFailure(error); // rethrows what is not a JOSE failure
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(body)));
    const arrived = `${body.length} bytes with the SHA-256 ${base64url(hash)}`;
    const expected =
      `one by the key that kid names over the exact bytes of the body, which arrived as ${arrived}`;
    return signatureFault("Signature.Invalid", mismatch(WHOLE, expected));
  }
}

/**
 * Signs the bytes of a body as the platform. `issuer` and `trustAnchor` become the OBIE iss and tan claims. `iat` is
 * in Unix seconds.
 */
export async function signDetached(
  body: Uint8Array,
  { kid, key }: OwnKey,
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
  const base = { alg: SIGNATURE_ALG, kid, ...obie };
  const header = claims.profile === "A" ? { ...base, b64: false, crit: ["b64", ...crit] } : { ...base, crit };
  const signed = await signJws(header, claims.profile === "A" ? body : base64url(body), key);
  return `${signed.header}..${signed.signature}`;
}

function checkMembers(header: JsonObject): Result<JsonObject> {
  const { alg, kid, typ, cty, b64 } = header;
  const has = (name: string): boolean => Object.hasOwn(header, name);
  if (alg !== SIGNATURE_ALG) return mismatch("alg", SIGNATURE_ALG, alg);
  if (typeof kid !== "string" || kid === "") return mismatch("kid", "a string", kid);
  if (has("typ") && typ !== "JOSE") return mismatch("typ", "JOSE or absent", typ);
  if (has("cty") && cty !== "json" && cty !== "application/json") {
    return mismatch("cty", "application/json or absent", cty);
  }
  const unknown = Object.keys(header).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) {
    return mismatch(SHOWABLE_MEMBER.test(unknown) ? unknown : "header member", "absent", header[unknown]);
  }
  if (has("b64") && b64 !== false) return mismatch("b64", "false or absent", b64);
  return checkCrit(header);
}

// RFC 7797 §6: b64 applies only if crit names it. jose alone would ignore an unnamed b64.
function checkCrit(header: JsonObject): Result<JsonObject> {
  const expected = CRITICAL.filter((name) => Object.hasOwn(header, name));
  const { crit } = header;
  const isComplete = Object.hasOwn(header, "crit")
    ? Array.isArray(crit) && crit.length > 0 && crit.length === expected.length &&
      expected.every((name) => crit.includes(name))
    : expected.length === 0;
  if (isComplete) return ok(header);
  const received = Array.isArray(crit) && crit.every((name) => typeof name === "string")
    ? crit.join(", ")
    : crit;
  const list = expected.length === 0 ? "absent" : `the list of ${expected.join(", ")}`;
  return mismatch("crit", list, received);
}

function obieCrit(): { [name: string]: boolean } {
  return Object.fromEntries(Object.values(OBIE_CLAIM).map((name) => [name, true]));
}

function signatureFault(
  code: SignatureFault["code"],
  failure: Failure,
  path = "x-jws-signature",
): Failure<SignatureFault> {
  const fault = within("x-jws-signature", failure.fault);
  return { ok: false, fault: { code, message: explanation(fault), path, ...fault } };
}
