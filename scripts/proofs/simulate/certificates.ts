/** X.509 certificates of the simulation, as DER: real in shape, unsigned. The platform reads key and times. */

const OID_RSA = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const OID_SIGNATURE = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const NULL = [0x05, 0x00];
const OID_COMMON_NAME = [0x06, 0x03, 0x55, 0x04, 0x03];
const EXPONENT = [0x02, 0x03, 0x01, 0x00, 0x01];

const known = new Map<string, Uint8Array<ArrayBuffer>>();

/** The SubjectPublicKeyInfo of an RSA key with this modulus (base64url) and the exponent 65537. */
export function spkiOf(modulus: string): Uint8Array<ArrayBuffer> {
  const spki = known.get(modulus) ?? newSpki(modulus);
  known.set(modulus, spki);
  return spki.slice();
}

function newSpki(modulus: string): Uint8Array<ArrayBuffer> {
  const octets = [0x00, ...Uint8Array.fromBase64(modulus, { alphabet: "base64url" })];
  const key = sequence(element(0x02, octets), EXPONENT);
  return new Uint8Array(sequence(sequence(OID_RSA, NULL), element(0x03, [0x00, ...key])));
}

/** A certificate for a modulus, valid from 2026 to 2099. */
export function certificateOf(modulus: string, name: string): Uint8Array<ArrayBuffer> {
  const algorithm = sequence(OID_SIGNATURE, NULL);
  const issuer = sequence(element(0x31, sequence(OID_COMMON_NAME, text(0x0c, name))));
  const validity = sequence(text(0x18, "20260101000000Z"), text(0x18, "20991231235959Z"));
  const toSign = sequence(
    element(0xa0, [0x02, 0x01, 0x02]),
    [0x02, 0x01, 0x01],
    algorithm,
    issuer,
    validity,
    issuer,
    [...spkiOf(modulus)],
  );
  return new Uint8Array(sequence(toSign, algorithm, element(0x03, new Array(257).fill(0))));
}

function text(tag: number, value: string): number[] {
  return element(tag, [...new TextEncoder().encode(value)]);
}

function sequence(...parts: readonly number[][]): number[] {
  return element(0x30, parts.flat());
}

function element(tag: number, content: readonly number[]): number[] {
  const { length } = content;
  if (length < 0x80) return [tag, length, ...content];
  if (length < 0x100) return [tag, 0x81, length, ...content];
  return [tag, 0x82, length >> 8, length & 0xff, ...content];
}
