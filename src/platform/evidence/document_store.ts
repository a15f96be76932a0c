/**
 * Stores documents that many history entries name by their SHA-256: public keys with their certificates, and software
 * statements. Each is stored once and never changes, so that signatures can be verified after every key was replaced.
 */
import { z } from "zod";
import { defineRecord } from "../../base/store/record.ts";
import { text } from "../../base/store/record_fields.ts";
import { evidenceDocumentKey } from "../config/store_keys.ts";
import type { Reader } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { digest } from "./digest.ts";

/** A document and its name. Make it once and keep the object: it is staged until a commit of it has succeeded. */
export interface SharedDocument {
  /** SHA-256 of the text in UTF-8, base64url. */
  readonly sha256: string;
  readonly text: string;
}

export const evidenceDocumentRecord = defineRecord<{ readonly text: string }>({
  name: "evidence_document",
  keyParts: ["SHA-256 of the text"],
  what: "A public key with its certificates, or a software statement, as history entries name it.",
  schema: z.looseObject({ text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export function sharedDocument(text: string): SharedDocument {
  return { sha256: digest(text), text };
}

const committed = new WeakSet<SharedDocument>();

/** Stages the document, unless a commit of this object has stored it. */
export function stageDocument(tx: Transaction, document: SharedDocument): void {
  if (committed.has(document)) return;
  evidenceDocumentRecord.set(tx, evidenceDocumentKey(document.sha256), { text: document.text });
  tx.onCommit.push(() => committed.add(document));
}

/** Returns the text of a document, or null. */
export async function documentAt(reader: Reader, sha256: string): Promise<string | null> {
  return (await evidenceDocumentRecord.get(reader, evidenceDocumentKey(sha256)))?.value.text ?? null;
}
