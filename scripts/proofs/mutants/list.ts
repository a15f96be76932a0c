/** Every mutant, read from `faults.txt`: a name, a file, the text and its fault as in a patch, and test files. */
import type { Mutant } from "./mutant.ts";

const BLOCK =
  /^(?<name>[a-z0-9-]+)\n(?<file>src\/\S+)\n- (?<from>.*)\n\+ ?(?<to>.*)\n(?<tests>(?:tests\/\S+\n?)+)$/;

/** All of them; names are unique. */
export const MUTANTS: readonly Mutant[] = Deno.readTextFileSync(new URL("faults.txt", import.meta.url))
  .trimEnd().split("\n\n").filter((block) => !block.startsWith("#")).map(mutantIn);

/** @throws {Error} if it is none */
function mutantIn(block: string): Mutant {
  const { name, file, from, to, tests } = BLOCK.exec(block)?.groups ?? {};
  if (name === undefined || file === undefined || from === undefined || to === undefined || !tests) {
    throw new Error(`not a mutant, which has a name, a file, a - line, a + line and tests: ${block}`);
  }
  return { name, file, from, to, tests: tests.trimEnd().split("\n") };
}
