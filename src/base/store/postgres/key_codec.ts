/**
 * Converts keys to bytes whose order is the order of the keys, part by part, and back. A part is its UTF-8 bytes and
 * a 00; a 00 within a part is written as 00 FF. FF never occurs in UTF-8, so 00 FF sorts after every key below a part.
 */
import type { Key } from "../store.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The bytes as PostgreSQL's text form of `bytea`. */
export function encodeKey(key: Key): string {
  return `\\x${key.map(encodePart).join("")}`;
}

/** The first key, as {@link encodeKey}, that is above every key below this one. */
export function endBelow(key: Key): string {
  return `${encodeKey(key)}ff`;
}

/** The reverse of {@link encodeKey}. */
export function decodeKey(text: string): Key {
  const bytes = Uint8Array.fromHex(text.slice(2));
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

function encodePart(part: string): string {
  const hex = encoder.encode(part).toHex();
  const escaped = part.includes("\0") ? hex.replace(/../g, (byte) => byte === "00" ? "00ff" : byte) : hex;
  return `${escaped}00`;
}
