/** The changes that `deno task mutation` makes, the tests that it chooses, and what it concludes from their run. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { type Near, type Outcome, tryMutations } from "../../../../scripts/proofs/mutants/mutation_runs.ts";
import plugin, { type Change } from "../../../../scripts/proofs/mutants/mutation_plugin.ts";
import {
  ACCEPTED_FILE,
  acceptedIn,
  faultOf,
  mutationOf,
  mutationsOf,
} from "../../../../scripts/proofs/mutants/mutations.ts";
import { nearTests } from "../../../../scripts/proofs/mutants/near_tests.ts";
import { namesakeTests, tellingTests } from "../../../../scripts/proofs/mutants/telling_tests.ts";
import { switched } from "../../../../scripts/proofs/mutants/switched.ts";
import { readSource } from "../../../../scripts/upkeep/sources/source_files.ts";

/** Each changed text, with its kind. */
function changed(text: string): string[] {
  return Deno.lint.runPlugin(plugin, "src/a.ts", text).map(({ message }) => {
    const mutation = mutationOf("src/a.ts", text, JSON.parse(message) as Change);
    return `${mutation.kind}: ${mutation.plant(text)}`;
  }).sort();
}

Deno.test("each kind of change is made in one place", () => {
  const cases: readonly (readonly [text: string, ...expected: string[]])[] = [
    ["f(a < b);", "border: f(a <= b);", "dropped call: ;"],
    ["x = (a) >= (b);", "border: x = (a) > (b);"],
    ["x = a === b;", "negated comparison: x = a !== b;"],
    ["x = a && b;", "dropped condition: x = a;", "dropped condition: x = b;"],
    ["x = a ?? b;", "dropped default: x = a;"],
    ["if (a) throw b;", "dropped check: ;", "negated condition: if (!(a)) throw b;"],
    ["if (a) { throw b; }", "dropped check: ;", "negated condition: if (!(a)) { throw b; }"],
    ["if (a) x = 'ü😀';", "negated condition: if (!(a)) x = 'ü😀';"],
    ["'ü😀'; x = a ? b : c;", "negated condition: 'ü😀'; x = !(a) ? b : c;"],
    ["if (a !== b) throw c;", "dropped check: ;", "negated comparison: if (a === b) throw c;"],
    ["await put(a);", "dropped call: ;", "removed await: put(a);"],
    ["x = f(a, b.c);", "swapped arguments: x = f(b.c, a);"],
    ["x = true;", "flipped boolean: x = false;"],
    ["x = y({ a, 1: b });", "removed member 1: b: x = y({ a });", "removed member a: x = y({ 1: b });"],
    [
      "for (;;) if (a) continue;",
      "dropped check: for (;;) ;",
      "negated condition: for (;;) if (!(a)) continue;",
    ],
    ["x = 999;", "other number: x = 1000;"],
    ["x = 1_000;", "other number: x = 2000;"],
    ["x = f({ maxKeys: 9 });", "removed member maxKeys: 9: x = f({  });"],
    [
      "const MOST = 9; x = f({ maxKeys: MOST });",
      "removed member maxKeys: MOST: const MOST = 9; x = f({  });",
    ],
    [
      "x = { ...(a ? b : c), d };",
      "negated condition: x = { ...(!(a) ? b : c), d };",
      "removed member ...(a ? b : c): x = { d };",
      "removed member d: x = { ...(a ? b : c) };",
    ],
    ["x = ['a', b];", "removed element 'a': x = [b];", "removed element b: x = ['a'];"],
  ];
  for (const [text, ...expected] of cases) assertEquals(changed(text), expected, text);
});

Deno.test("nothing is changed in strings, comments and types, or where the text would stay the same", () => {
  const untouched = [
    "// if (a < 1) throw true;",
    "/** [1, 2] */ x = 'a < 1 && true';",
    "const x: 1 | true | [1, 2] = y as 3;",
    "interface A { readonly a: false; b: Array<5> }",
    "x = `a < 1`;",
    "x = f(a, a);",
    "const PIECE = 1;",
    "x = Math.min(a, b);",
    "x = a /* < */ < b;",
    "const [a, b] = c;",
    "const MAX_SEEN = 9; x = openRecentlyUsed<A>(MAX_SEEN);",
    "x = isSameAccount(a, b);",
  ];
  for (const text of untouched) assertEquals(changed(text), [], text);
});

Deno.test("the programs of a folder give changes that fit them", async () => {
  const file = "src/base/values/money.ts";
  const source = await Deno.readTextFile(file);
  const found = (await mutationsOf("src/base/values")).filter((mutation) => mutation.file === file);
  assert(found.length > 0);
  for (const { plant, line } of found) {
    const lines = plant(source).split("\n");
    const first = source.split("\n").findIndex((text, at) => text !== lines[at]);
    assertEquals(first + 1 >= line, true, `line ${line}`);
  }
});

Deno.test("every program can hold its changes, so that its tests can run with one of them", async () => {
  const nothing: Deno.lint.Plugin = { name: "parses", rules: { any: { create: () => ({}) } } };
  const found = [...await mutationsOf("src/base"), ...await mutationsOf("src/platform")];
  for (const [file, mutations] of Map.groupBy(found, (mutation) => mutation.file)) {
    const changes = mutations.map(({ change }, number) => ({ change, number }));
    Deno.lint.runPlugin(nothing, file, switched(readSource(file).text, changes, "./asks.ts"));
  }
  const made = new Set(found.map(faultOf));
  const gone = [...ACCEPTED.keys()].filter((fault) => !made.has(fault));
  assertEquals(gone, [], `${ACCEPTED_FILE} names faults that cannot be made any more`);
});

const ACCEPTED = acceptedIn(await Deno.readTextFile(ACCEPTED_FILE));

Deno.test("an accepted survivor stands once in the list, with its reason", () => {
  const [one, other] = ["src/a.ts dropped call: f(); => ;", "src/b/c.ts border: a < b => a <= b"];
  const list = `# words\n${one}\n  it has no effect,\n  here\n\n${other}\n  never equal\n`;
  assertEquals([...acceptedIn(list)], [[one, "it has no effect, here"], [other, "never equal"]]);
  assertThrows(() => acceptedIn(`${one}\n${other}\n  never equal\n`), Error, `has no reason: ${one}`);
  assertThrows(() => acceptedIn("  no fault\n"), Error, "has no fault: no fault");
  assertThrows(() => acceptedIn(`${list}${one}\n  again\n`), Error, `stands there twice: ${one}`);
});

Deno.test("the nearest tests have the file's name, then they mirror its folder or have the fewest imports to it", () => {
  const files = [
    { path: "src/a/b/x.ts", text: "" },
    { path: "src/a/b/y.ts", text: 'import { x } from "./x.ts";' },
    { path: "tests/support/z.ts", text: 'import { x } from "../../src/a/b/x.ts";' },
    { path: "tests/a/b/far.test.ts", text: 'import { y } from "../../../src/a/b/y.ts";' },
    { path: "tests/a/b/mirror.test.ts", text: 'import "./far.test.ts";' },
    { path: "tests/a/other.test.ts", text: 'import { z } from "support/z.ts";' },
    { path: "tests/c/direct.test.ts", text: 'import { x } from "../../src/a/b/x.ts";' },
    { path: "tests/c/strange.test.ts", text: 'import { z } from "support/z.ts";' },
    { path: "tests/c/x_again.test.ts", text: 'import { z } from "support/z.ts";' },
    { path: "tests/c/too_far.test.ts", text: 'import "../a/b/far.test.ts";' },
    { path: "tests/a/b/nothing.test.ts", text: "" },
  ];
  assertEquals(nearTests(files, 6)("src/a/b/x.ts"), [
    "tests/c/x_again.test.ts",
    "tests/c/direct.test.ts",
    "tests/a/b/far.test.ts",
    "tests/a/b/mirror.test.ts",
    "tests/a/other.test.ts",
    "tests/c/strange.test.ts",
  ]);
  assertEquals(nearTests(files, 1)("src/a/b/x.ts"), [
    "tests/c/x_again.test.ts",
    "tests/a/b/far.test.ts",
    "tests/a/b/mirror.test.ts",
  ]);
});

Deno.test("what a change calls is tested under the name of the program that defines it", () => {
  const files = [
    ...["a/x", "b/rate_limit", "b/other"].map((name) => ({
      path: `src/${name}.ts`,
      text: "limitParticipant",
    })),
    ...["c", "d", "e", "f", "g"].map((name) => ({ path: `src/${name}.ts`, text: "usedOften" })),
    ...["b/rate_limit", "b/rate_limits", "a/x", "c"].map((name) => ({
      path: `tests/${name}.test.ts`,
      text: "",
    })),
  ];
  assertEquals(namesakeTests(files)("src/a/x.ts", 'await c.get("limitParticipant")(usedOften);'), [
    "tests/b/rate_limit.test.ts",
  ]);
});

Deno.test("tests that speak of a change share its rarest words; a declaration is held by the served document too", () => {
  const files = [
    { path: "tests/a/one.test.ts", text: 'form.set("ui_locales", "es"); client.find();' },
    { path: "tests/b/two.test.ts", text: "client.find(); other.call();" },
    { path: "tests/b/three.test.ts", text: "client.find();" },
    { path: "tests/journeys/slow.test.ts", text: "uiLocales" },
    { path: "tests/support/four.ts", text: "uiLocales" },
  ];
  const telling = tellingTests(files, 2);
  assertEquals(telling("", "...(uiLocales.length === 0 ? {} : find(uiLocales))"), [
    "tests/a/one.test.ts",
    "tests/b/two.test.ts",
  ]);
  assertEquals(telling("", "readUiLocales()"), ["tests/a/one.test.ts"]);
  assertEquals(telling('import { z } from "@hono/zod-openapi";', "nowhere"), [
    "tests/platform/process/documents/openapi_document.test.ts",
  ]);
  assertEquals(telling('return endpoint("resource");', "nowhere"), [
    "tests/docs/generated_documents.test.ts",
  ]);
});

Deno.test("a program with its changes does what each changed text does, and none without a choice", () => {
  const text =
    `const seen = []; const f = (a, b) => { seen.push(a - b); return a - b; }; const one = 5, two = 3;
    if (f(one, two) < 2 && [one].length >= 1) seen.push(7); else if (one !== two) { f(1, 2); }
    for (const x of [1, 2, { one, y: [two] }]) { if (x === 1) continue; seen.push(x); }
    return JSON.stringify([seen, f(two, one) ?? 4, one > 2 ? true : false]);`;
  const found = Deno.lint.runPlugin(plugin, "src/a.ts", text).map(({ message }) =>
    JSON.parse(message) as Change
  );
  assert(found.length > 40, String(found.length));
  const program = switched(text, found.map((change, at) => ({ change, number: at + 1 })), "./asks.ts");
  const [, body = ""] = program.split('import isChosen__ from "./asks.ts"; ');
  const results = new Set<string>();
  for (const [at, change] of found.entries()) {
    const expected = resultOf(mutationOf("src/a.ts", text, change).plant(text), 0);
    assertEquals(resultOf(body, at + 1), expected, JSON.stringify(change));
    results.add(expected);
  }
  assertEquals(resultOf(body, 0), resultOf(text, 0));
  assert(results.size > 20, String(results.size));
});

function resultOf(body: string, chosen: number): string {
  try {
    return String(new Function("isChosen__", body)((number: number) => number === chosen));
  } catch (error) {
    return String(error);
  }
}

Deno.test("a fault is caught, survives, or does not fit the types, and the tree stays as it is", async () => {
  const file = "src/base/kernel/batches.ts";
  const source = await Deno.readTextFile(file);
  const chosen = (await mutationsOf("src/base/kernel")).filter((mutation) =>
    mutation.file === file && OUTCOMES.has(`${mutation.kind}: ${mutation.from.trim()}`)
  );
  const outcomes = new Map<string, Outcome>();
  const near = (): ReturnType<Near> => ({ near: ["tests/base/kernel/batches.test.ts"], telling: [] });
  await tryMutations(chosen, { near, processes: 2 }, ({ kind, from }, outcome) => {
    outcomes.set(`${kind}: ${from.trim()}`, outcome);
  });
  assertEquals(outcomes, OUTCOMES);
  assertEquals(await Deno.readTextFile(file), source);
});

/** Some changes of `batches.ts`, of which its own test file reaches the first. */
const OUTCOMES = new Map<string, Outcome>([
  ["border: for (let start = 0; start < items.length; start += size) {", "caught"],
  ["dropped check: if (isStoreFailure(error)) throw error;", "survived"],
  [
    "negated condition: return error instanceof Error ? error.stack ?? error.message : String(error);",
    "invalid",
  ],
]);
