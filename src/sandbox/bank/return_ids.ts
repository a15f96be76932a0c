/** Creates the ids of a bank's result JWTs and repeats the last one for the replay fault. */

/** Creates ids. */
export interface ReturnIds {
  readonly fresh: () => string;
  /** The last id created, or a new one if there is none. */
  readonly last: () => string;
}

export function createReturnIds(): ReturnIds {
  let last: string | undefined;
  const fresh = (): string => last = crypto.randomUUID();
  return { fresh, last: () => last ?? fresh() };
}
