/** The changes that `deno task mutation` makes, the tests that it chooses, and what it concludes from their run. */
import { assert, assertEquals } from "@std/assert";
import { outcomeOf } from "../../../../scripts/proofs/mutants/mutation.ts";
import plugin, { type Change } from "../../../../scripts/proofs/mutants/mutation_plugin.ts";
import { mutationOf, mutationsOf } from "../../../../scripts/proofs/mutants/mutations.ts";
import { nearTests } from "../../../../scripts/proofs/mutants/near_tests.ts";

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
    ["x = 7;", "other number: x = 8;"],
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
    "x = a /* < */ < b;",
    "const [a, b] = c;",
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

Deno.test("the nearest tests have the file's name, then the fewest imports between them and the file", () => {
  const files = [
    { path: "src/a/b/x.ts", text: "" },
    { path: "src/a/b/y.ts", text: 'import { x } from "./x.ts";' },
    { path: "tests/support/z.ts", text: 'import { x } from "../../src/a/b/x.ts";' },
    { path: "tests/a/b/far.test.ts", text: 'import { y } from "../../../src/a/b/y.ts";' },
    { path: "tests/a/other.test.ts", text: 'import { z } from "support/z.ts";' },
    { path: "tests/c/direct.test.ts", text: 'import { x } from "../../src/a/b/x.ts";' },
    { path: "tests/c/strange.test.ts", text: 'import { z } from "support/z.ts";' },
    { path: "tests/c/x_again.test.ts", text: 'import { z } from "support/z.ts";' },
    { path: "tests/c/too_far.test.ts", text: 'import "../a/b/far.test.ts";' },
    { path: "tests/a/b/nothing.test.ts", text: "" },
  ];
  assertEquals(nearTests("src/a/b/x.ts", files), [
    "tests/c/x_again.test.ts",
    "tests/c/direct.test.ts",
    "tests/a/b/far.test.ts",
    "tests/a/other.test.ts",
    "tests/c/strange.test.ts",
  ]);
});

Deno.test("a hang and an error after loading are caught, a module that does not load is not counted", () => {
  const run = (verdict: "passed" | "failed" | "broken" | "timed out", output = ""): string =>
    outcomeOf({ verdict, output, seconds: 1 });
  assertEquals(run("passed"), "survived");
  assertEquals(run("failed"), "caught");
  assertEquals(run("timed out"), "caught");
  assertEquals(run("broken", "./tests/a.test.ts (uncaught error)\n"), "invalid");
  const loaded = "running 2 tests from ./tests/a.test.ts\n./tests/a.test.ts (uncaught error)\n";
  assertEquals(run("broken", loaded), "caught");
  const parallel = "./tests/a.test.ts => works ... cancelled (0ms)\n./tests/a.test.ts (uncaught error)\n";
  assertEquals(run("broken", parallel), "caught");
});
