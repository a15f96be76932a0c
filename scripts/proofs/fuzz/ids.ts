/** Makes ids and secrets repeatable by seed while samples are made, so that the next run has the same mutations. */
import { seeded } from "../prove/random.ts";

/**
 * The result of `make`, with every id and secret derived from seed and purpose. RSA salts and paddings are not, so
 * signatures and encrypted texts differ between runs, but only in their octets.
 */
export async function withSeededIds<T>(seed: number, purpose: string, make: () => Promise<T>): Promise<T> {
  const random = seeded(seed, purpose);
  const fill = <A extends Uint8Array>(bytes: A): A => {
    for (let at = 0; at < bytes.length; at++) bytes[at] = random.below(256);
    return bytes;
  };
  const overridden = { getRandomValues: fill, randomUUID: () => uuidOf(fill(new Uint8Array(16))) };
  for (const [name, value] of Object.entries(overridden)) {
    Object.defineProperty(crypto, name, { value, configurable: true });
  }
  try {
    return await make();
  } finally {
    for (const name of Object.keys(overridden)) Reflect.deleteProperty(crypto, name);
  }
}

/** RFC 9562 §5.4. */
function uuidOf(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
