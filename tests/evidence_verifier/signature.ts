/** Signatures: PS256 alone, attached and detached, and what they cover. */
import { flattenedVerify, importJWK, type JWK } from "jose";
import { fromBase64Url, membersOf, parsed } from "./encoding.ts";

/** What a signature has proved: the protected header, and the bytes that were signed. */
export interface Signed {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Uint8Array;
}

const NAMESPACE = "http://openbanking.org.uk/";

/** The headers that a payload signature marks as critical and that step 7 reads or may pass over. */
const UNDERSTOOD = { [`${NAMESPACE}iat`]: true, [`${NAMESPACE}iss`]: true, [`${NAMESPACE}tan`]: true };

interface Parts {
  readonly protected: string;
  readonly payload: string | Uint8Array;
  readonly signature: string;
}

/** Thousands of forgeries have the same genuine signatures: each is verified once. */
const known = new Map<string, Promise<Signed | undefined>>();

function verified(parts: Parts, key: object): Promise<Signed | undefined> {
  const { kty, n, e } = key as JWK;
  const payload = typeof parts.payload === "string" ? parts.payload : parts.payload.toBase64();
  const name = JSON.stringify([kty, n, e, parts.protected, payload, parts.signature]);
  const found = known.get(name) ?? verify(parts, { kty, n, e } as JWK);
  known.set(name, found);
  return found;
}

async function verify(parts: Parts, key: JWK): Promise<Signed | undefined> {
  try {
    const { protectedHeader, payload } = await flattenedVerify(parts, await importJWK(key, "PS256"), {
      algorithms: ["PS256"],
      crit: UNDERSTOOD,
    });
    return { header: protectedHeader as Readonly<Record<string, unknown>>, payload };
  } catch {
    return undefined;
  }
}

/** Verifies a compact JWS. */
export async function verifyCompact(jws: string, key: object): Promise<Signed | undefined> {
  const [header = "", payload = "", signature = "", ...more] = jws.split(".");
  if (more.length > 0) return undefined;
  return await verified({ protected: header, payload, signature }, key);
}

/** Verifies `header..signature` over the bytes. */
export async function verifyDetached(
  jws: string,
  bytes: Uint8Array,
  key: object,
): Promise<Signed | undefined> {
  const [header = "", payload, signature = "", ...more] = jws.split(".");
  if (payload !== "" || more.length > 0) return undefined;
  const isRaw = headerOf(jws)["b64"] === false;
  const encoded = bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  return await verified({ protected: header, payload: isRaw ? bytes : encoded, signature }, key);
}

/** Returns the header of a JWS that is not verified yet. */
export function headerOf(jws: string): Readonly<Record<string, unknown>> {
  return membersOf(parsed(fromBase64Url(jws.split(".")[0] ?? "")));
}
