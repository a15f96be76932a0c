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
  let part: number[] = [];
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte !== 0) part.push(byte);
    else if (bytes[index + 1] === 0xff) part.push(bytes[index++] ?? 0);
    else {
      parts.push(decoder.decode(Uint8Array.from(part)));
      part = [];
    }
  }
  return parts;
}

function encodePart(part: string): string {
  const hex = encoder.encode(part).toHex();
  const escaped = part.includes("\0") ? hex.replace(/../g, (byte) => byte === "00" ? "00ff" : byte) : hex;
  return `${escaped}00`;
}
