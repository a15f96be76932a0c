/** The outcome of a check that has no words for the caller: its user decides what a "no" means on its surface. */

/** A value, or why there is none (for the log). */
export type Verdict<T> = { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly why: string;
};

/** A positive verdict. */
export function yes<T>(value: T): Verdict<T> {
  return { ok: true, value };
}

/** A negative verdict; `why` goes to the log. */
export function no(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why };
}
