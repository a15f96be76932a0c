/** A bundle whose form is right, as the steps read it: its pieces, and what is said in them. */
import { fromBase64Url, parsed, sha256Text } from "./encoding.ts";
import type { Body, Bundle, Entry, Item } from "./form.ts";
import { headerOf } from "./signature.ts";

/** One piece of evidence, or what is left of it. */
export interface Piece {
  readonly entry: Entry;
  readonly item: Item;
  readonly kind: string;
  readonly place: string;
  /** Null if the evidence was deleted. */
  readonly body: Body | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The JSON of the payload of a compact JWS, or of the bytes. Undefined if it was deleted, or is none. */
  readonly content: unknown;
  /** The header of its signature. */
  readonly header: Readonly<Record<string, unknown>>;
}

export interface Case {
  readonly bundle: Bundle;
  readonly entries: readonly Entry[];
  readonly pieces: readonly Piece[];
  readonly statement: Readonly<Record<string, unknown>>;
  readonly consent: string;
  readonly payment: string;
  /** The texts of the bundle by their SHA-256. */
  readonly documents: ReadonlyMap<string, string>;
}

export const COMPACT: ReadonlySet<string> = new Set(["handover", "order", "sca_result"]);
export const DETACHED: ReadonlySet<string> = new Set([
  "consent_request",
  "payment_request",
  "payer_accounts",
  "status_report",
  "tpp_dispute",
  "bank_dispute",
]);

function pieceOf(entry: Entry, item: Item, body: Body | null): Piece {
  const bytes = fromBase64Url(body?.bytes ?? "") ?? new Uint8Array();
  const compact = COMPACT.has(item.kind) ? new TextDecoder().decode(bytes) : undefined;
  return {
    entry,
    item,
    kind: item.kind,
    place: `${entry.subject} ${entry.sequence} ${item.kind}`,
    body,
    bytes,
    content: parsed(compact === undefined ? bytes : fromBase64Url(compact.split(".")[1] ?? "")),
    header: headerOf(compact ?? body?.signature ?? ""),
  };
}

export function readCase(
  bundle: Bundle,
  statement: Readonly<Record<string, unknown>>,
): Case {
  return {
    bundle,
    entries: bundle.entries.map(({ record }) => record),
    pieces: bundle.entries.flatMap(({ record, bodies }) =>
      (record.items ?? []).map((item, at) => pieceOf(record, item, bodies[at] ?? null))
    ),
    statement,
    consent: String(statement["consent"]),
    payment: String(statement["payment"]),
    documents: new Map(bundle.documents.map((text) => [sha256Text(text), text])),
  };
}

/** The pieces of these kinds that were not deleted. */
export function piecesOf({ pieces }: Case, ...kinds: readonly string[]): readonly Piece[] {
  return pieces.filter(({ kind, body }) => body !== null && kinds.includes(kind));
}

export function isPaymentStatus(event: string): boolean {
  return /^payment\.[A-Z]/.test(event);
}

/** How faults name an entry. */
export function nameOf({ event, sequence, subject }: Entry): string {
  return `entry ${sequence} of ${subject} (${event})`;
}
