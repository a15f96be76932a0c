/** Named checks of headers, times and values, from which the rules of signed texts are composed. */
import { START } from "../../testing/environment.ts";

/** A decoded JSON object. */
export type Members = { readonly [name: string]: unknown };

/** The clock of every environment, Unix seconds. */
export const NOW = START / 1000;
/** Allowed clock skew, seconds. */
export const SKEW = 30;
/** Header members that would supply a key, compression or processing rules. */
export const ALIEN = ["jku", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "apu", "apv", "p2c", "p2s"];

/** A named check and its result. */
export type Check = readonly [name: string, holds: boolean];

/** The name of the first failed check. */
export function firstBroken(checks: readonly Check[]): string | undefined {
  return checks.find(([, holds]) => !holds)?.[0];
}

/** The header of a compact JWS by the participant's signing key. */
export function headed(header: Members, kid: string, typ: readonly unknown[]): readonly Check[] {
  return [
    ["alg", header["alg"] === "PS256"],
    ["kid", String(header["kid"]).replace(/=$/, "") === kid.replace(/=$/, "")],
    ["typ", typ.includes(typeOf(header["typ"]))],
    ["set of header members", ![...ALIEN, "jwk"].some((name) => Object.hasOwn(header, name))],
  ];
}

/** `typ` as a media type (RFC 7515 §4.1.9). */
export function typeOf(typ: unknown): unknown {
  return typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;
}

/** A time between these, both included; Unix seconds. */
export function isTime(value: unknown, from: number, to: number): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= from && value <= to;
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 256;
}

/** `exp` not expired and at most `ahead` from now, `iat` and `nbf` not in the future; seconds. */
export function timed(claims: Members, ahead: number, wanted: readonly string[]): readonly Check[] {
  const check = (name: string, from: number, to: number): Check => {
    const absent = !Object.hasOwn(claims, name) && !wanted.includes(name);
    return [name, absent || isTime(claims[name], from, to)];
  };
  return [
    check("exp", NOW - SKEW, NOW + ahead),
    ["exp", claims["exp"] !== NOW - SKEW],
    check("iat", -Infinity, NOW + SKEW),
    check("nbf", -Infinity, NOW + SKEW),
  ];
}

export function isOneOf(value: unknown, of: readonly unknown[]): boolean {
  return of.includes(value);
}

/** A non-empty subset of these values. */
export function isSubset(value: unknown, of: readonly unknown[]): boolean {
  return listOf(value).length > 0 && listOf(value).every((each) => isOneOf(each, of));
}

/** The value if it is a list, else an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
