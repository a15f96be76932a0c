/** The planted faults of `deno task mutants` still fit the source. Whether tests catch them is tried on demand. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../../../scripts/command_line/run.ts";
import { type Mutant, MUTANTS, planted } from "../../../../scripts/proofs/mutants/mutant.ts";
import { choose } from "../../../../scripts/proofs/mutants/options.ts";

const root = new URL("../../../../", import.meta.url);

Deno.test("every mutant changes one line of the source, in one place", async () => {
  const faults = await Promise.all(MUTANTS.map(async (mutant) => {
    const source = await Deno.readTextFile(new URL(mutant.file, root));
    const oneLine = !mutant.from.includes("\n") && !mutant.to.includes("\n");
    try {
      return oneLine && planted(mutant, source) !== source ? [] : [`${mutant.name} must change one line`];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }));
  assertEquals(faults.flat(), []);
});

Deno.test("every mutant has a name of its own and tests that exist", async () => {
  assertEquals(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
  const files = new Set(MUTANTS.flatMap(({ tests }) => tests));
  for (const file of files) assert((await Deno.stat(new URL(file, root))).isFile, file);
  assert(MUTANTS.every(({ tests }) => tests.length > 0));
});

const MUTANT: Mutant = { name: "a", file: "src/a.ts", from: "x < 1", to: "x <= $&", tests: [] };

Deno.test("planted rejects text that occurs twice or not at all, and replaces it literally", () => {
  assertEquals(planted(MUTANT, "if (x < 1) {}"), "if (x <= $&) {}");
  for (const source of ["if (x < 1 || x < 1) {}", "if (x > 1) {}"]) {
    assertThrows(() => planted(MUTANT, source), Error, "Adapt the mutant to the source");
  }
});

Deno.test("choose takes names and samples that a seed repeats, and rejects other options", () => {
  const all = [1, 2, 3, 4, 5].map((number) => ({ ...MUTANT, name: `m${number}` }));
  const namesOf = (...args: string[]): string[] => choose(args, all).mutants.map(({ name }) => name) ?? [];
  assertEquals(namesOf(), ["m1", "m2", "m3", "m4", "m5"]);
  assertEquals(namesOf("--only", "m4,m2"), ["m4", "m2"]);
  assertEquals(namesOf("--sample", "3", "--seed", "7"), namesOf("--sample", "3", "--seed", "7"));
  assertEquals(new Set(namesOf("--sample", "3", "--seed", "7")).size, 3);
  for (
    const args of [["--only", "m6"], ["--seed", "7"], ["--sample", "6"], ["--sample", "x"], ["--other"], [
      "m1",
    ]]
  ) {
    assertThrows(() => choose(args, all), UsageError);
  }
});
