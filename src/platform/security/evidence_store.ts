/**
 * The signed bytes of a request and their signature, kept with what they led to: who can show them can prove what
 * was ordered (contract RP11). In pieces, since a body can be as large as the store's largest value.
 */
import { evidenceKey } from "../store_keys.ts";
import type { Key, Reader } from "../../base/store/store.ts";
import { set, type Transaction } from "../../base/store/transaction.ts";
import type { SignedBody } from "./payload_signature.ts";

/** A piece: the first one also carries the signature. */
interface Piece {
  readonly signature?: string;
  readonly bytes: Uint8Array;
}

/** What can be shown of a signed request. */
export interface Evidence {
  readonly signature: string;
  readonly bytes: Uint8Array;
}

const PIECE_BYTES = 48_000;

/** Stages the evidence for a resource. */
export function stageEvidence(tx: Transaction, subject: string, { bytes, signature }: SignedBody): void {
  for (let piece = 0; piece === 0 || piece * PIECE_BYTES < bytes.length; piece++) {
    const part = bytes.slice(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
    const value: Piece = piece === 0 ? { signature, bytes: part } : { bytes: part };
    set(tx, evidenceKey(subject, piece), value);
  }
}

/** The keys of the evidence for a resource: what to prefetch. */
export function evidenceAhead(subject: string): readonly Key[] {
  return [evidenceKey(subject, 0), evidenceKey(subject, 1)]; // a body has two pieces at most
}

/** The evidence for a resource, or null if there is none. */
export async function evidenceOf(reader: Reader, subject: string): Promise<Evidence | null> {
  const [first, second] = await Promise.all(evidenceAhead(subject).map((key) => reader.get<Piece>(key)));
  if (first?.value.signature === undefined) return null;
  const pieces = [first.value.bytes, second?.value.bytes ?? new Uint8Array()];
  return {
    signature: first.value.signature,
    bytes: new Uint8Array(await new Blob(pieces.map((piece) => piece.slice())).arrayBuffer()),
  };
}
