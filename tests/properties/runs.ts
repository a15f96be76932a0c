/** Shared by the property tests: a fixed seed, and the allowed results of a parser of outside input. */
import fc from "fast-check";
import { ApiError } from "../../src/base/kernel/api_error.ts";

/** Parameters of a run: the same cases every time. */
export function runs(numRuns: number): { numRuns: number; seed: number } {
  return { numRuns, seed: 20_400_115 };
}

/** The value, or the ApiError in its place; anything else that is thrown is a bug and comes through. */
export function attempt<T>(parse: () => T): T | ApiError {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** As {@link attempt}, for parsers that take their time. */
export async function attemptLater<T>(parse: () => Promise<T>): Promise<T | ApiError> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** A good text with a few characters replaced, left out, put in or said twice: most parsers get far with it. */
export function mutated(
  good: string,
  characters = 'A=.-_ \t\n\0"\\{}[],:;%+/&0\u00e9\ud800',
): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(good.length),
    length: fc.nat(3),
    put: fc.oneof(fc.constantFrom(...characters, ""), fc.string({ maxLength: 4 })),
    twice: fc.boolean(),
  });
  return fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) =>
    edits.reduce((text, { at, length, put, twice }) => {
      const rest = twice ? text.slice(at - length) : text.slice(at + length);
      return text.slice(0, at) + put + rest;
    }, good)
  );
}

/** A JSON value with one part replaced by another, left out, renamed or repeated. */
export function mutatedJson(good: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(good);
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.constant(undefined),
  );
  const edit = fc.record({
    path: fc.constantFrom(...paths),
    value,
    name: fc.oneof(fc.constantFrom(...NAMES), fc.string()),
  });
  return fc.array(fc.tuple(edit, fc.constantFrom("replace", "remove", "rename", "add")), {
    minLength: 1,
    maxLength: 3,
  })
    .map((edits) =>
      edits.reduce((json, [{ path, value, name }, how]) =>
        edited(json, path, (holder, last) => {
          const { [last]: former, ...others } = holder;
          if (how === "replace") return { ...others, [last]: value };
          if (how === "remove") return others;
          return how === "rename" ? { ...others, [name]: former } : { ...holder, [name]: value };
        }), good)
    );
}

const NAMES = ["__proto__", "constructor", "toString", "Data", "Risk", "iss", "length", ""];

type Members = { [name: string]: unknown };

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const own = path.length === 0 ? [] : [path];
  if (typeof value !== "object" || value === null) return own;
  return [...own, ...Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))];
}

function edited(
  value: unknown,
  path: readonly string[],
  edit: (holder: Members, last: string) => Members,
): unknown {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== "object" || value === null) return value;
  const holder: Members = { ...value };
  const changed = rest.length === 0
    ? edit(holder, first)
    : { ...holder, [first]: edited(holder[first], rest, edit) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}
