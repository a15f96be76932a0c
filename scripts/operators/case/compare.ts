/** Compares two bundles of a case: the later one must have every entry of the earlier one (docs/operations/disputes.md). No I/O. */
import type { Bundle, Key, Piece, Statement } from "./bundle_schema.ts";
import { textOf } from "./signatures.ts";
import { leafOf, nameOf } from "./verify_parts.ts";

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
  const entries = new Map(
    later.bundle.entries.map((entry) => [placeOf(entry), textOf(leafOf(entry.record))]),
  );
  for (const entry of earlier.bundle.entries) {
    const leaf = entries.get(placeOf(entry));
    const signed = `and was signed at ${new Date(earlier.statement.iat * 1000).toISOString()}`;
    if (leaf === undefined) yield `${nameOf(entry)} is missing in the later bundle, ${signed}`;
    else if (leaf !== textOf(leafOf(entry.record))) {
      yield `${nameOf(entry)} is another in the later bundle, ${signed}`;
    }
  }
  // Both were complete when they were signed: what the later one has besides must not be older.
  const known = new Set(earlier.bundle.entries.map(placeOf));
  for (const entry of later.bundle.entries) {
    if (known.has(placeOf(entry)) || entry.record.at >= earlier.statement.iat * 1000 - SKEW_MS) continue;
    yield `${nameOf(entry)} is of ${
      new Date(entry.record.at).toISOString()
    }, and the bundle that was signed later lacks it`;
  }
}

/** Clocks of the platform's processes differ by less. */
export const SKEW_MS = 60_000;

function placeOf({ record: { subject, sequence } }: Bundle["entries"][number]): string {
  return `${subject} ${sequence}`;
}
