/** A broken house rule, as the checks report it. */

/** One broken rule. */
export interface Violation {
  /** `path:line`, from the project's root. */
  readonly where: string;
  readonly sentence: string;
}
