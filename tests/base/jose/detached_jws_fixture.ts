/** Shared by the tests of detached signatures: the vectors of contract SG7, signing by hand, rejections as text. */
import type { JsonObject } from "testing/jwts.ts";
import {
  readDetachedJws,
  type SignatureProfile,
  type UnverifiedSignature,
  verifyDetachedJws,
} from "../../../src/base/jose/detached_jws.ts";
import { signingKey, verifyingKey } from "./compact_jws_fixture.ts";
import { bytesOf, concat, type Part, ps256, segment } from "testing/raw_jws.ts";

export const IAT = "http://openbanking.org.uk/iat";
export const ISS = "http://openbanking.org.uk/iss";
export const TAN = "http://openbanking.org.uk/tan";
export const BODY = bytesOf(
  '{"Data":{"Initiation":{"InstructedAmount":{"Amount":"165.88","Currency":"GBP"}}},"Risk":{}}',
);
export const VECTOR_A =
  '{"alg":"PS256","kid":"90210ABAD","b64":false,"http://openbanking.org.uk/iat":1501497671,' +
  '"http://openbanking.org.uk/iss":"ORG-1/SC-1","http://openbanking.org.uk/tan":"directory.example",' +
  '"crit":["b64","http://openbanking.org.uk/iat","http://openbanking.org.uk/iss","http://openbanking.org.uk/tan"]}';
export const VECTOR_B = VECTOR_A.replace('"b64":false,', "").replace('"b64",', "");
export const HEADER_A = JSON.parse(VECTOR_A) as JsonObject;
export const HEADER_B = JSON.parse(VECTOR_B) as JsonObject;

/** RFC 7797 §5.2 for A: the payload as it is; RFC 7515 App. F for B: the payload's base64url. */
export function signingInput(
  profile: SignatureProfile,
  header: Part,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return concat(segment(header), ".", profile === "A" ? body : segment(body));
}

export async function signature(
  profile: SignatureProfile,
  header: Part,
  body = BODY,
  key = signingKey,
): Promise<string> {
  return `${segment(header)}..${await ps256(key, signingInput(profile, header, body))}`;
}

export function read(text: string): UnverifiedSignature {
  const reading = readDetachedJws(text);
  if (!reading.ok) throw new Error(`${reading.fault.code} ${reading.fault.path}`);
  return reading.value;
}

/** The code that a signature over BODY is rejected with, and the path; undefined when it holds. */
export async function rejection(text: string, body = BODY, key = verifyingKey): Promise<string | undefined> {
  const reading = readDetachedJws(text);
  const verified = reading.ok ? await verifyDetachedJws(reading.value, body, key) : reading;
  return verified.ok ? undefined : `${verified.fault.code} ${verified.fault.path}`;
}

export async function rejectionOfHeader(header: Part): Promise<string | undefined> {
  return await rejection(await signature("B", header));
}
