/**
 * RSAES-OAEP decoding with SHA-256 and an empty label (RFC 8017 §7.1.2 step 3), for tokens whose own OAEP has only SHA-1,
 * such as SoftHSM 2. The private key's operation stays in the token.
 */
import { createHash } from "node:crypto";

const HASH_BYTES = 32;

/**
 * Returns the message, or undefined. No branch and no index depends on the decrypted bytes before every check has been
 * made, and the reason of a failure is not told: a difference would decrypt the message (Manger's attack).
 *
 * @param encoded what the private key has made of the ciphertext, as long as the modulus
 */
export function decodeOaep(encoded: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (encoded.length < 2 * HASH_BYTES + 2) return undefined;
  const maskedSeed = encoded.subarray(1, 1 + HASH_BYTES);
  const maskedBlock = encoded.subarray(1 + HASH_BYTES);
  const seed = xor(maskedSeed, mask(maskedBlock, HASH_BYTES));
  const block = xor(maskedBlock, mask(seed, maskedBlock.length));
  const labelHash = createHash("sha256").digest();
  let wrong = encoded[0] ?? 1;
  for (let at = 0; at < HASH_BYTES; at++) wrong |= (block[at] ?? 0) ^ (labelHash[at] ?? 0);
  let [start, searching] = [0, 1];
  for (let at = HASH_BYTES; at < block.length; at++) {
    const byte = block[at] ?? 0;
    const isZero = ((byte - 1) >>> 31) & 1;
    const isOne = (((byte ^ 1) - 1) >>> 31) & 1;
    start |= (at + 1) * (searching & isOne);
    wrong |= searching & ~isZero & ~isOne & 1;
    searching &= isZero;
  }
  return (wrong | searching) === 0 ? block.slice(start) : undefined;
}

/** MGF1 with SHA-256 (RFC 8017 §B.2.1). */
function mask(seed: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(Math.ceil(length / HASH_BYTES) * HASH_BYTES);
  for (let counter = 0; counter * HASH_BYTES < length; counter++) {
    const count = new Uint8Array(4);
    new DataView(count.buffer).setUint32(0, counter);
    made.set(createHash("sha256").update(seed).update(count).digest(), counter * HASH_BYTES);
  }
  return made.subarray(0, length);
}

function xor(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(left, (byte, at) => byte ^ (right[at] ?? 0));
}
