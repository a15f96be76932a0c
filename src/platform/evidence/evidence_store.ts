/**
 * Stores pieces of evidence together with their effect (contract RP11), apart from the history entries that name
 * them. They are stored in parts, because a body can be larger than a value of the store.
 */
import { z } from "zod";
import { defineRecord, optional } from "../../base/store/record.ts";
import { text } from "../../base/store/record_fields.ts";
import { base64url } from "../../base/kernel/identifiers.ts";
import { evidenceKey } from "../store_keys.ts";
import type { Key, Reader } from "../../base/store/store.ts";
import { remove, type Transaction } from "../../base/store/transaction.ts";
import type { EvidenceBody } from "./evidence.ts";

/** A part of the bytes. The first one also has the other members of the body. */
interface Part extends Omit<EvidenceBody, "bytes"> {
  /** Base64url. Earlier versions stored the bytes themselves. */
  readonly bytes: string | Uint8Array;
}

/** In base64url, and with the other members of a body, less than the store's limit. */
const PART_BYTES = 40_000;
/** Enough for the largest request body and the largest JWT. */
const MAX_PARTS = 2;

export const evidenceRecord = defineRecord<Part>({
  name: "evidence",
  keyParts: ["resource id and purpose", "number of the part"],
  what: "A piece of evidence, in parts: what a party sent or saw, its signature and its salt.",
  schema: z.looseObject({
    signature: optional(text),
    salt: optional(text),
    bytes: z.union([text, z.instanceof(Uint8Array)]),
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "customer",
});

/**
 * Stages a body.
 *
 * @throws {Error} if it is larger than two parts, which no accepted request is
 */
export function stageBody(tx: Transaction, place: string, { bytes, ...rest }: EvidenceBody): void {
  if (bytes.length > MAX_PARTS * PART_BYTES) throw new Error(`${place} is larger than evidence may be`);
  for (let part = 0; part === 0 || part * PART_BYTES < bytes.length; part++) {
    const piece = base64url(bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES));
    evidenceRecord.set(tx, evidenceKey(place, part), { ...(part === 0 ? rest : {}), bytes: piece });
  }
}

/** Stages the deletion of a body. */
export function stageBodyGone(tx: Transaction, place: string): void {
  for (const key of bodyKeys(place)) remove(tx, key);
}

/** Returns the body at a place, or null. */
export async function bodyAt(reader: Reader, place: string): Promise<EvidenceBody | null> {
  const entries = await Promise.all(bodyKeys(place).map((key) => evidenceRecord.get(reader, key)));
  const [first, ...more] = entries.map((entry) => entry?.value);
  if (first === undefined) return null;
  const { bytes: _, ...rest } = first;
  const bytes = [first, ...more].flatMap((part) => part === undefined ? [] : [bytesOf(part)]);
  return { ...rest, bytes: new Uint8Array(await new Blob(bytes).arrayBuffer()) };
}

function bodyKeys(place: string): readonly Key[] {
  return Array.from({ length: MAX_PARTS }, (_, part) => evidenceKey(place, part));
}

function bytesOf({ bytes }: Part): Uint8Array<ArrayBuffer> {
  return typeof bytes === "string" ? Uint8Array.fromBase64(bytes, { alphabet: "base64url" }) : bytes.slice();
}
