/** `strictJson` against a second reader, written differently: they must agree on what is one unambiguous document. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { strictJson } from "../../src/base/kernel/json.ts";
import { mutated, runs } from "./runs.ts";

const TOKEN = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const MAX_DEPTH = 16;

/** The value, or undefined where the text is no document that every reader reads alike. */
function reference(text: string): { value: unknown } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const names: string[][] = [];
  const tokens = text.match(TOKEN) ?? [];
  for (const [at, token] of tokens.entries()) {
    if (token === "{" || token === "[") names.push([]);
    if (names.length > MAX_DEPTH) return undefined;
    if (token === "}" || token === "]") {
      const own = names.pop() ?? [];
      if (new Set(own).size < own.length) return undefined;
    }
    if (token.startsWith('"') && tokens[at + 1] === ":") names.at(-1)?.push(JSON.parse(token) as string);
  }
  return everyLeaf(
      value,
      (leaf) =>
        (typeof leaf !== "string" || leaf.isWellFormed()) &&
        (typeof leaf !== "number" || Number.isFinite(leaf)),
    )
    ? { value }
    : undefined;
}

function everyLeaf(value: unknown, is: (leaf: unknown) => boolean): boolean {
  if (typeof value !== "object" || value === null) return is(value);
  return Object.entries(value).every(([name, member]) => is(name) && everyLeaf(member, is));
}

function assertAgreement(text: string): void {
  const ours = strictJson(text);
  const theirs = reference(text);
  assertEquals(ours.ok ? { value: ours.value } : undefined, theirs, text);
}

Deno.test("strictJson agrees with a second reader on texts of JSON's own tokens", () => {
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"b"',
    '"\\u0061"',
    "1",
    "-0",
    "1e999",
    "null",
    " ",
    '""',
    '"\\\\"',
    '"\\ud800"',
  ];
  const member = fc.tuple(
    fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"'),
    fc.constantFrom("1", "{}", "[]", '"a"', "1e400"),
  )
    .map(([name, value]) => `${name}:${value}`);
  const object = fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(",")}}`);
  const text = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map((parts) => parts.join("")),
    object,
    fc.array(object, { maxLength: 3 }).map((objects) => `[${objects.join(" , ")}]`),
    fc.tuple(object, fc.constantFrom('"a"', '"x"')).map(([inner, name]) => `{"a":${inner},${name}:${inner}}`),
  );
  fc.assert(fc.property(text, assertAgreement), runs(4000));
});

Deno.test("strictJson agrees with a second reader on documents with a few characters changed", () => {
  const good = JSON.stringify({
    iss: "SC-1",
    aud: ["a", "b"],
    n: -1.5e3,
    o: { "\\": '"', "é": "\ud83d\ude42" },
    t: true,
  });
  fc.assert(fc.property(mutated(good), assertAgreement), runs(4000));
});

Deno.test("strictJson agrees with a second reader on any document, and on one with a member twice", () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, unit: "grapheme" }), { minLength: 1, maxLength: 6 });
  const twice = fc.tuple(names, fc.nat(), fc.json({ maxDepth: 2 })).map(([all, pick, value]) => {
    const members = [...all, all[pick % all.length]].map((name) => `${JSON.stringify(name)}:${value}`);
    return `[{${members.join(",")}}]`;
  });
  fc.assert(fc.property(fc.oneof(fc.json({ maxDepth: 6 }), twice, fc.string()), assertAgreement), runs(2000));
});

Deno.test("strictJson agrees with a second reader on deep documents", () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(20), fc.boolean(), (arrays, objects, closed) => {
      const text = "[".repeat(arrays) + '{"a":'.repeat(objects) + "0" + "}".repeat(objects) +
        (closed ? "]" : "").repeat(arrays);
      assertAgreement(text);
    }),
    runs(400),
  );
});
