/** What a bundle for a participant withholds (`docs/contract/evidence.md`, EV18). No I/O. */
import type { Bundle, BundleEntry, Statement, WithheldEntry } from "./bundle_schema.ts";
import { entryName, leafOf } from "./verify_parts.ts";
import { base64url } from "./signatures.ts";

/** What the chain of a history and the log know of an entry. */
export interface Link {
  readonly name: string;
  readonly subject: string;
  readonly sequence: number;
  readonly position: number;
  readonly leaf: string;
  /** Undefined if the entry is withheld: its record names it. */
  readonly record?: BundleEntry["record"];
}

const OWN: Readonly<Record<NonNullable<Statement["reader"]>, readonly string[]>> = {
  tpp: ["consent_request", "pushed_request", "payment_request", "tpp_dispute", "bank_dispute"],
  bank: [
    "handover",
    "payer_accounts",
    "sca_result",
    "order",
    "order_response",
    "status_report",
    "stated_order",
    "tpp_dispute",
    "bank_dispute",
  ],
};

/** Whether a bundle for this reader has no evidence of the kind. */
export function isWithheld(kind: string, reader: Statement["reader"]): boolean {
  return reader !== undefined && !OWN[reader].includes(kind);
}

export function withheldName({ subject, sequence }: WithheldEntry): string {
  return `entry ${sequence} of ${subject} (withheld)`;
}

/** Returns the entries and those that are withheld, in the order of their positions. */
export function linksOf({ entries, withheld = [] }: Pick<Bundle, "entries" | "withheld">): readonly Link[] {
  const hidden = withheld.map((entry): Link => ({ ...entry, name: withheldName(entry) }));
  const shown = entries.map((entry): Link => {
    const { record, position } = entry;
    const { subject, sequence } = record;
    return { name: entryName(entry), subject, sequence, position, leaf: base64url(leafOf(record)), record };
  });
  return hidden.length === 0 ? shown : [...shown, ...hidden].toSorted((a, b) => a.position - b.position);
}

/** A bundle for a participant has what is for it, and entries of operators alone are withheld. */
export function* verifyWithheld({ entries, withheld }: Bundle, { reader }: Statement): Generator<string> {
  if ((reader === undefined) !== (withheld === undefined)) {
    yield "entries are withheld, and no reader is named";
  }
  for (const entry of reader === undefined ? [] : entries) {
    if (entry.record.actor.startsWith("operator ")) yield `${entryName(entry)} is not for the ${reader}`;
    for (const [at, { kind }] of (entry.record.items ?? []).entries()) {
      if (entry.bodies[at] && isWithheld(kind, reader)) {
        yield `the ${kind} of ${entryName(entry)} is not for the ${reader}`;
      }
    }
  }
}
