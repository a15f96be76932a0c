/**
 * The result of a check that has no message for the caller. The code that runs the check decides how to answer a
 * failure.
 */

/** A value, or the reason for its absence (for the log). */
export type Verdict<T> = { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly why: string;
};

export function yes<T>(value: T): Verdict<T> {
  return { ok: true, value };
}

/** Returns a failed verdict. `why` is logged. */
export function no(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why };
}
