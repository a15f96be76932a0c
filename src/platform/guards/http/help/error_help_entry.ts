/** The documentation of one reason of a rejection. */
export interface ErrorHelp {
  readonly cause: string;
  readonly expected: string;
  /** A value as it is expected, or a part of a request. */
  readonly example: string;
  readonly fix: string;
}

export function help(cause: string, expected: string, example: string, fix: string): ErrorHelp {
  return { cause, expected, example, fix };
}
