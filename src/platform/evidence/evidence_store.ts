/**
 * Stores pieces of evidence together with their effect (contract RP11), apart from the history entries that name
 * them. They are stored in parts, because a body can be larger than a value of the store.
 */
import { z } from "zod";
import { defineRecord, optional, text } from "../../base/store/record.ts";
import { base64url } from "../../base/kernel/identifiers.ts";
import { evidenceKey } from "../config/store_keys.ts";
import type { Key, Reader } from "../../base/store/store.ts";
import { remove, type Transaction } from "../../base/store/transaction.ts";
import { type PersonalData, personalDataMember, PRESENT } from "./personal_data.ts";
import type { EvidenceBody } from "./evidence.ts";

/** A part of the bytes. The first one also has the other members of the body. */
interface Part extends Omit<EvidenceBody, "bytes"> {
  /** Base64url. */
  readonly bytes: string;
  /** Set when it is read and cannot be opened. Never stored. */
  readonly personalData?: PersonalData;
}

/**
 * Lengths of the parts. Sealed in base64url, and the first one with the longest signature, each is less than the
 * store's limit. Together they are enough for the largest request body.
 */
const PART_BYTES = [30_000, 36_000] as const;
const MAX_BYTES = PART_BYTES[0] + PART_BYTES[1];

export const evidenceRecord = defineRecord<Part>({
  name: "evidence",
  keyParts: ["resource id and purpose", "number of the part"],
  what: "A piece of evidence, in parts: what a party sent or saw, its signature and its salt.",
  schema: z.looseObject({
    signature: optional(text),
    salt: optional(text),
    bytes: text,
    personalData: optional(personalDataMember),
  }),
  version: 1,
  lifetime: "Until the case is erased, or an entry of its history deletes it.",
  personalData: "customer",
  retention: "evidence",
  restore: "kept",
});

/**
 * Stages a body.
 *
 * @throws {Error} if it is larger than two parts, which no accepted request is
 */
export function stageBody(tx: Transaction, place: string, { bytes, ...rest }: EvidenceBody): void {
  if (bytes.length > MAX_BYTES) throw new Error(`${place} is larger than evidence may be`);
  const [first] = PART_BYTES;
  evidenceRecord.set(tx, evidenceKey(place, 0), { ...rest, bytes: base64url(bytes.slice(0, first)) });
  if (bytes.length <= first) return;
  evidenceRecord.set(tx, evidenceKey(place, 1), { bytes: base64url(bytes.slice(first)) });
}

/** Stages the deletion of a body. */
export function stageBodyGone(tx: Transaction, place: string): void {
  for (const key of bodyKeys(place)) remove(tx, key);
}

/** Returns the body at a place: null if it was deleted or its case was erased, `"lost"` if its data key is lost. */
export async function bodyAt(reader: Reader, place: string): Promise<EvidenceBody | "lost" | null> {
  const entries = await Promise.all(bodyKeys(place).map((key) => evidenceRecord.get(reader, key)));
  const [first, ...more] = entries.map((entry) => entry?.value);
  if (first === undefined) return null;
  const { bytes: _, personalData = PRESENT, ...rest } = first;
  if (personalData.state !== "present") return personalData.state === "lost" ? "lost" : null;
  const bytes = [first, ...more].flatMap((part) => part === undefined ? [] : [bytesOf(part)]);
  return { ...rest, bytes: new Uint8Array(await new Blob(bytes).arrayBuffer()) };
}

function bodyKeys(place: string): readonly Key[] {
  return PART_BYTES.map((_, part) => evidenceKey(place, part));
}

function bytesOf({ bytes }: Part): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(bytes, { alphabet: "base64url" });
}
