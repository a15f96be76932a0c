/**
 * Stores the signed bytes of a request and their signature together with their effect, as evidence of what was
 * ordered (contract RP11). They are stored in pieces, because a body can be larger than a value of the store.
 */
import { z } from "zod";
import { defineRecord, optional } from "../../base/store/record.ts";
import { text } from "../../base/store/record_fields.ts";
import { base64url } from "../../base/kernel/identifiers.ts";
import { evidenceKey } from "../store_keys.ts";
import type { Reader } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import type { SignedBody } from "./payload_signature.ts";

/** A piece of the body. The first one also has the signature. */
interface Piece {
  readonly signature?: string;
  /** Base64url. Earlier versions stored the bytes themselves. */
  readonly bytes: string | Uint8Array;
}

/** The signature and the signed bytes of a request. */
export interface Evidence {
  readonly signature: string;
  readonly bytes: Uint8Array;
}

/** In base64url, and with the signature, less than the store's limit. */
const PIECE_BYTES = 40_000;

export const evidenceRecord = defineRecord<Piece>({
  name: "evidence",
  keyParts: ["resource id and purpose", "number of the piece"],
  what: "The signed bytes of a request, in pieces, and their signature.",
  schema: z.looseObject({ signature: optional(text), bytes: z.union([text, z.instanceof(Uint8Array)]) }),
  version: 1,
  lifetime: "Kept.",
  personalData: "customer",
});

export function stageEvidence(tx: Transaction, subject: string, { bytes, signature }: SignedBody): void {
  for (let piece = 0; piece === 0 || piece * PIECE_BYTES < bytes.length; piece++) {
    const part = bytes.slice(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
    const value = { ...(piece === 0 ? { signature } : {}), bytes: base64url(part) };
    evidenceRecord.set(tx, evidenceKey(subject, piece), value);
  }
}

/** Returns the evidence for a resource, or null. */
export async function evidenceOf(reader: Reader, subject: string): Promise<Evidence | null> {
  const [first, second] = await Promise.all([ // a body has at most two pieces
    evidenceRecord.get(reader, evidenceKey(subject, 0)),
    evidenceRecord.get(reader, evidenceKey(subject, 1)),
  ]);
  if (first?.value.signature === undefined) return null;
  const pieces = [bytesOf(first.value), second === null ? new Uint8Array() : bytesOf(second.value)];
  return {
    signature: first.value.signature,
    bytes: new Uint8Array(await new Blob(pieces).arrayBuffer()),
  };
}

function bytesOf({ bytes }: Piece): Uint8Array<ArrayBuffer> {
  return typeof bytes === "string" ? Uint8Array.fromBase64(bytes, { alphabet: "base64url" }) : bytes.slice();
}
