/** Checks the claims of a verified JWT, each by a rule that names what is expected. */
import { mismatch, ok, quoted, type Result } from "../kernel/result.ts";
import type { JsonObject } from "./compact_jws.ts";

/** Checks one claim. `value` is undefined if the claim is absent. */
export type ClaimRule<T> = (value: unknown, name: string) => Result<T>;

/** The values of claims that satisfy the rules. */
export type ClaimsOf<R extends Readonly<Record<string, ClaimRule<unknown>>>> = {
  readonly [Name in keyof R]: R[Name] extends ClaimRule<infer T> ? T : never;
};

/** Checks the claims in the order of the rules. Claims without a rule are ignored. */
export function checkClaims<R extends Readonly<Record<string, ClaimRule<unknown>>>>(
  claims: JsonObject,
  rules: R,
): Result<ClaimsOf<R>> {
  const values: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const checked = rule(Object.hasOwn(claims, name) ? claims[name] : undefined, name);
    if (!checked.ok) return checked;
    values[name] = checked.value;
  }
  return ok(values as ClaimsOf<R>);
}

/**
 * The claim must be exactly this string, never a list that contains it.
 *
 * @param meaning what the string is, for the fault
 */
export function exactly(expected: string, meaning?: string): ClaimRule<string> {
  const words = meaning === undefined ? quoted(expected) : `${quoted(expected)} (${meaning})`;
  return (value, name) => value === expected ? ok(expected) : mismatch(name, words, value);
}

/** The claim must be a string of 1 to `max` characters. */
export function text(max: number): ClaimRule<string> {
  return (value, name) =>
    typeof value === "string" && value !== "" && value.length <= max
      ? ok(value)
      : mismatch(name, `a string of 1 to ${max} characters`, value);
}

/** The claim must be a number. Its limits are those of `checkTimes`. */
export function unixTime(value: unknown, name: string): Result<number> {
  return typeof value === "number" ? ok(value) : mismatch(name, "a number of Unix seconds", value);
}

/** The claim must be absent, because another kind of JWT has it (RFC 8725 §3.12). */
export function absent(value: unknown, name: string): Result<undefined> {
  return value === undefined ? ok(undefined) : mismatch(name, "absent", value);
}

/** The claim may have any value or be absent. */
export function anything(value: unknown): Result<unknown> {
  return ok(value);
}
