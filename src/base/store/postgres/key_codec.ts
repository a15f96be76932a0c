/** Keys as PostgreSQL's text form of `bytea`. The order of the texts is the order of the keys. */
import { decodeKey as decodeBytes, encodeKey as encodeBytes } from "../key_codec.ts";
import type { Key } from "../store.ts";

export function encodeKey(key: Key): string {
  return `\\x${encodeBytes(key).toHex()}`;
}

/** The first key, as {@link encodeKey}, that is above every key below this one. */
export function endBelow(key: Key): string {
  return `${encodeKey(key)}ff`;
}

/** The reverse of {@link encodeKey}. */
export function decodeKey(text: string): Key {
  return decodeBytes(Uint8Array.fromHex(text.slice(2)));
}
