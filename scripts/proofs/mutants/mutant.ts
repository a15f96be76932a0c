/** The planted faults of `faults.txt`, and how the text of each is replaced. */

/** One fault in one line of the source, and the tests that must fail because of it. */
export interface Mutant {
  readonly name: string;
  /** From the project's root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** Test files, from the project's root. */
  readonly tests: readonly string[];
}

/**
 * The source with the fault.
 *
 * @throws {Error} if the text to replace does not occur exactly once
 */
export function planted({ name, file, from, to }: Mutant, source: string): string {
  const found = source.split(from).length - 1;
  if (found === 1) return source.replace(from, () => to);
  throw new Error(
    `${name}: its text occurs ${found} times in ${file}. Adapt the mutant to the source: ${from}`,
  );
}

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
