/** Mutations of texts, bytes and tokens, determined only by a random stream. Independent of their use. */
import type { Random } from "../prove/random.ts";
import { segment } from "../../testing/raw_jws.ts";

const CHARACTERS = [..."AZaz09-_=+/.,:;%&?#@!$'\"\\ <>{}[]()~^|`*\t"];
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const WORDS: readonly string[] = [
  "",
  "null",
  "undefined",
  "NaN",
  "-1",
  "1e999",
  "__proto__",
  "constructor",
  "%00",
  "%",
  "%ff",
  "%0d%0a",
  "..",
  "/../",
  "//",
  "\\",
  "'\"",
  "<script>",
  "${x}",
  "{{x}}",
  "&",
  "&x=1",
  "=",
  ",",
  ", ",
  ";",
  ";a=1",
  "\u00e9",
  "\u202e",
  "\ud83d\ude42",
  "\ufeff",
  "\0",
  "\r\n",
  "BANKB",
  "BANKA",
  "payments",
  "bank",
  "eyJhbGciOiJub25lIn0",
  "e30",
  "00000000-0000-0000-0000-000000000000",
];

/** One of the values. */
export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[random.below(values.length)];
  if (value === undefined) throw new RangeError("nothing to pick from");
  return value;
}

/** A text with one to three edits. */
export function mutateText(random: Random, text: string): string {
  let mutated = text;
  for (let edits = 1 + random.below(3); edits > 0; edits--) mutated = editText(random, mutated);
  return mutated;
}

function editText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const length = random.chance(0.7) ? 1 + random.below(3) : random.below(text.length + 1);
  const [before, range, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
  switch (random.below(9)) {
    case 0:
      return before + pick(random, CHARACTERS) + text.slice(at + 1);
    case 1:
      return before + pick(random, CHARACTERS) + text.slice(at);
    case 2:
      return before + after;
    case 3:
      return before + range + range + after;
    case 4:
      return before;
    case 5:
      return before + pick(random, WORDS) + text.slice(at);
    case 6:
      return before + [...range].reverse().join("") + after;
    case 7:
      return before + swapCase(range) + after;
    default:
      return random.chance(0.02)
        ? before + pick(random, CHARACTERS).repeat(pick(random, [300, 10_000, 70_000])) + after
        : pick(random, WORDS);
  }
}

function swapCase(text: string): string {
  return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
}

/** Bytes with one to three bits, octets or ranges changed. */
export function mutateBytes(random: Random, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const at = random.below(Math.max(1, bytes.length));
  const mutated = new Uint8Array(bytes);
  switch (random.below(4)) {
    case 0:
      return new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + 1 + random.below(4))]);
    case 1:
      return new Uint8Array([...bytes.subarray(0, at), random.below(256), ...bytes.subarray(at)]);
    default:
      mutated[at] = (mutated[at] ?? 0) ^ (1 + random.below(255));
      return mutated;
  }
}

/** A token with its text, one segment's octets or encoding, or the order of its segments changed. */
export function mutateToken(random: Random, token: string): string {
  const parts = token.split(".");
  const index = random.below(parts.length);
  const part = parts[index] ?? "";
  switch (random.below(6)) {
    case 0:
    case 1:
      return mutateText(random, token);
    case 2:
      return parts.with(index, pick(random, [...parts, "", ...WORDS])).join(".");
    case 3:
      return parts.with(index, pick(random, spellingsOf(part))).join(".");
    default: {
      const octets = octetsOf(part);
      return octets === undefined
        ? mutateText(random, token)
        : parts.with(index, segment(mutateBytes(random, octets))).join(".");
    }
  }
}

/** Other encodings of a segment's octets: with padding, in the other alphabet, with a space, with unused bits set. */
function spellingsOf(segment: string): readonly string[] {
  const octets = octetsOf(segment);
  if (octets === undefined) return [`${segment}=`];
  const padded = octets.toBase64({ alphabet: "base64url" });
  return [padded, octets.toBase64(), octets.toBase64().replace(/=+$/, ""), ` ${segment}`, strayBits(segment)];
}

/** The last character of a segment has two or four unused bits if the segment's length is not a multiple of four. */
function strayBits(segment: string): string {
  const last = BASE64URL.indexOf(segment.slice(-1));
  return segment.length % 4 < 2 ? `${segment}A` : segment.slice(0, -1) + BASE64URL.charAt(last + 1);
}

function octetsOf(segment: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(segment, { alphabet: "base64url" });
  } catch {
    return undefined;
  }
}
