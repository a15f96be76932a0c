/** The ids of a bank's return JWTs: fresh ones, and the last one, for a bank that is told to send it again. */

/** Gives ids. */
export interface ReturnIds {
  readonly fresh: () => string;
  /** The last fresh one; a new one where there was none. */
  readonly last: () => string;
}

/** No id given yet. */
export function createReturnIds(): ReturnIds {
  let last: string | undefined;
  const fresh = (): string => last = crypto.randomUUID();
  return { fresh, last: () => last ?? fresh() };
}
