/** Compares two bundles of a case: the later one must have every entry of the earlier one (docs/operations/disputes.md). No I/O. */
import type { Bundle, Key, Piece, Statement } from "./bundle_schema.ts";
import { type Link, linksOf } from "./withheld.ts";

/** A bundle that verifies. */
export interface Verified {
  readonly bundle: Bundle;
  readonly statement: Statement;
  readonly pieces: readonly Piece[];
  /** The platform's keys: those that it publishes, and those that have signed in the case. */
  readonly keys: readonly Key[];
}

/** Yields each contradiction. @param given in any order */
export function* contradictionsIn(given: readonly [Verified, Verified]): Generator<string> {
  const [earlier, later] = given.toSorted((one, other) => one.statement.iat - other.statement.iat);
  if (earlier === undefined || later === undefined) return;
  const { iss, cell, consent, payment } = earlier.statement;
  const isSameCase = later.statement.iss === iss && later.statement.cell === cell &&
    later.statement.consent === consent && later.statement.payment === payment;
  if (!isSameCase) return yield "the bundles are of two different cases";
  const [before, after] = [linksOf(earlier.bundle), linksOf(later.bundle)];
  const leaves = new Map(after.map((entry) => [entryName(entry), entry.leaf]));
  for (const entry of before) {
    const leaf = leaves.get(entryName(entry));
    const signed = `and was signed at ${new Date(earlier.statement.iat * 1000).toISOString()}`;
    if (leaf === undefined) yield `${entry.name} is missing in the later bundle, ${signed}`;
    else if (leaf !== entry.leaf) yield `${entry.name} is another in the later bundle, ${signed}`;
  }
  // Both were complete when they were signed: what the later one has besides must not be older.
  const known = new Set(before.map(entryName));
  for (const { name, record, ...entry } of after) {
    const at = record?.at ?? entry.position; // a position is its entry's time or later
    if (known.has(entryName(entry)) || at >= earlier.statement.iat * 1000 - SKEW_MS) continue;
    yield `${name} is of ${new Date(at).toISOString()}, and the bundle that was signed later lacks it`;
  }
}

/** Clocks of the platform's processes differ by less. */
export const SKEW_MS = 60_000;

function entryName({ subject, sequence }: Pick<Link, "subject" | "sequence">): string {
  return `${subject} ${sequence}`;
}
