/**
 * Converts keys to bytes whose order is the order of the keys, part by part, and back. A part is its UTF-8 bytes and
 * a 00; a 00 within a part is written as 00 FF. FF never occurs in UTF-8, so 00 FF sorts after every key below a part.
 */
import type { Key } from "./store.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function encodeKey(key: Key): Uint8Array<ArrayBuffer> {
  if (key.some((part) => part.includes("\0"))) return Uint8Array.from(key.flatMap(escapedPart));
  return encoder.encode(key.map((part) => `${part}\0`).join(""));
}

/** The first bytes that are above every key below this one. */
export function endBelow(key: Key): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(...encodeKey(key), 0xff);
}

/** The reverse of {@link encodeKey}. */
export function decodeKey(bytes: Uint8Array): Key {
  const parts: string[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, end + 1)) {
    if (bytes[end + 1] === 0xff) continue;
    parts.push(decodePart(bytes.subarray(start, end)));
    start = end + 1;
  }
  return parts;
}

function decodePart(part: Uint8Array): string {
  return decoder.decode(part.includes(0xff) ? part.filter((byte) => byte !== 0xff) : part);
}

function escapedPart(part: string): number[] {
  return [...[...encoder.encode(part)].flatMap((byte) => byte === 0 ? [0, 0xff] : [byte]), 0];
}
