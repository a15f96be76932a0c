/** A command line that a program does not understand. The program ends with {@link USAGE_STATUS}. */
export class CommandLineFault extends Error {}

/** Exit status of a wrong command line. A program that cannot do its work ends with 1. */
export const USAGE_STATUS = 2;

/** The exit status of a program that this error has ended. */
export function exitStatusOf(error: unknown): number {
  return error instanceof CommandLineFault ? USAGE_STATUS : 1;
}
