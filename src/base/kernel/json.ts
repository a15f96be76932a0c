/** JSON: the strict parser, the differences of two values, and frozen values. */
import { MAX_JSON_DEPTH } from "../limits.ts";
import { failed, ok, type Result } from "./result.ts";

// Parses JSON so that two parsers cannot read it differently: one value, no duplicate members at any level, bounded
// nesting, finite numbers, well-formed Unicode (RFC 7493 §2; RFC 7515 §4; contract SZ2).

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // ignoreBOM keeps the mark
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const MINUS = 0x2d;
const NUMBER = /[-+.0-9eE]+/y;
const FINE = ok(undefined);

/** Decodes UTF-8 bytes and keeps a byte order mark. Returns undefined if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Completes "the body …". */
export type JsonFault =
  | "holds a lone surrogate"
  | "is not one JSON value"
  | "is nested too deeply"
  | "holds a number out of range"
  | "has a duplicate member";

/** Parses the text. A member named `__proto__` becomes an own property like any other. */
export function strictJson(text: string): Result<unknown, JsonFault> {
  if (!text.isWellFormed()) return failed("holds a lone surrogate");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed("is not one JSON value");
  }
  const checked = scan(text);
  return checked.ok ? ok(value) : checked;
}

/** Checks what `JSON.parse` accepts, in one pass. The text must be valid JSON. */
function scan(text: string): Result<undefined, JsonFault> {
  const open: (Set<string> | undefined)[] = []; // names seen in each open object; undefined is an array
  let nameIsNext = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (open.length === MAX_JSON_DEPTH) return failed("is nested too deeply");
      nameIsNext = unit === OPEN_BRACE;
      open.push(nameIsNext ? new Set() : undefined);
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      open.pop();
    } else if (unit === COMMA) {
      nameIsNext = open.at(-1) !== undefined;
    } else if (unit === QUOTE) {
      const end = closingQuote(text, at);
      const checked = checkString(text.slice(at, end + 1), nameIsNext ? open.at(-1) : undefined);
      if (!checked.ok) return checked;
      nameIsNext = false;
      at = end;
    } else if (unit === MINUS || isDigit(unit)) {
      NUMBER.lastIndex = at;
      const digits = NUMBER.exec(text)?.[0] ?? "";
      if (!Number.isFinite(Number(digits))) return failed("holds a number out of range");
      at += digits.length - 1;
    }
  }
  return FINE;
}

/** Checks one string token. With `names` it is a member's name, which is decoded first: `"\u0069ss"` is `"iss"`. */
function checkString(token: string, names: Set<string> | undefined): Result<undefined, JsonFault> {
  const escaped = token.includes("\\");
  if (!escaped && names === undefined) return FINE;
  const value = escaped ? String(JSON.parse(token)) : token.slice(1, -1);
  if (!value.isWellFormed()) return failed("holds a lone surrogate");
  if (names?.has(value)) return failed("has a duplicate member");
  names?.add(value);
  return FINE;
}

function closingQuote(text: string, opening: number): number {
  let at = text.indexOf('"', opening + 1);
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at;
}

/** Whether an odd number of backslashes precedes the position. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first--;
  return (at - first) % 2 === 1;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

// Finds the differences between two JSON values. Strings are compared by code points and arrays by position. The
// order of an object's members does not matter.

/**
 * Returns the paths of the leaves in which `a` and `b` differ, depth first, below `path`. A value that one side lacks
 * differs in each of its leaves. An undefined member counts as absent.
 */
export function differences(a: unknown, b: unknown, path: string): string[] {
  if (isJsonObject(a) && isJsonObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].flatMap((name) => differences(a[name], b[name], `${path}.${name}`));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    const length = Math.max(a.length, b.length);
    return Array.from({ length }, (_, i) => differences(a[i], b[i], `${path}[${i}]`)).flat();
  }
  return a === b ? [] : leaves(a ?? b, path);
}

function leaves(value: unknown, path: string): string[] {
  const members = Array.isArray(value)
    ? value.map((member, i) => leaves(member, `${path}[${i}]`))
    : isJsonObject(value)
    ? Object.keys(value).filter((name) => value[name] !== undefined).map((name) =>
      leaves(value[name], `${path}.${name}`)
    )
    : [];
  return members.length === 0 ? [path] : members.flat();
}

/** Whether a value of JSON is an object. */
export function isJsonObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Freezes a value with everything in it, so that code that changes it fails at once. A frozen part is taken to be frozen
 * throughout. Returns the value.
 */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) {
    return value;
  }
  Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}

/** The value of a text of JSON, for tools that read what others wrote; undefined if it is not JSON. */
export function jsonIfAny(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
