/** A planted fault, and how its text is replaced. No I/O. */

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
