/**
 * Stores the signed bytes of a request and their signature together with their effect, as evidence of what was
 * ordered (contract RP11). They are stored in pieces, because a body can be larger than a value of the store.
 */
import { evidenceKey } from "../store_keys.ts";
import type { Key, Reader } from "../../base/store/store.ts";
import { set, type Transaction } from "../../base/store/transaction.ts";
import type { SignedBody } from "./payload_signature.ts";

/** A piece of the body. The first one also has the signature. */
interface Piece {
  readonly signature?: string;
  readonly bytes: Uint8Array;
}

/** The signature and the signed bytes of a request. */
export interface Evidence {
  readonly signature: string;
  readonly bytes: Uint8Array;
}

const PIECE_BYTES = 48_000;

export function stageEvidence(tx: Transaction, subject: string, { bytes, signature }: SignedBody): void {
  for (let piece = 0; piece === 0 || piece * PIECE_BYTES < bytes.length; piece++) {
    const part = bytes.slice(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
    const value: Piece = piece === 0 ? { signature, bytes: part } : { bytes: part };
    set(tx, evidenceKey(subject, piece), value);
  }
}

/** Keys to prefetch for the evidence of a resource. */
export function evidenceAhead(subject: string): readonly Key[] {
  return [evidenceKey(subject, 0), evidenceKey(subject, 1)]; // a body has at most two pieces
}

/** Returns the evidence for a resource, or null. */
export async function evidenceOf(reader: Reader, subject: string): Promise<Evidence | null> {
  const [first, second] = await Promise.all(evidenceAhead(subject).map((key) => reader.get<Piece>(key)));
  if (first?.value.signature === undefined) return null;
  const pieces = [first.value.bytes, second?.value.bytes ?? new Uint8Array()];
  return {
    signature: first.value.signature,
    bytes: new Uint8Array(await new Blob(pieces.map((piece) => piece.slice())).arrayBuffer()),
  };
}
