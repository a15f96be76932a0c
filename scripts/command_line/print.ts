/** Prints lines of a program. */

/** Prints a line. If nobody reads any more, as behind `| head -1`, it does nothing: the exit status still counts. */
export function printLine(line: string): void {
  try {
    Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Prints a line to the standard error. */
export function printError(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}
