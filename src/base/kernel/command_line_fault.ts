/** A command line that a program does not understand. */
export class CommandLineFault extends Error {}

/** Returns the exit status of a program that this error has ended: 2 for a wrong command line, else 1. */
export function exitStatusOf(error: unknown): number {
  return error instanceof CommandLineFault ? 2 : 1;
}
