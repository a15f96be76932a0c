/** What operators did, newest first: an index of the entries of histories whose actor is an operator (contract OP25). */
import { z } from "zod";
import { defineRecord } from "../../base/store/record.ts";
import { instant, text } from "../../base/store/record_fields.ts";
import type { Key } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { newestFirstPart } from "../config/store_keys.ts";
import type { AuditEntry } from "./entry.ts";

/** Where the entry of a history is. */
export interface PlaceOfEntry {
  readonly subject: string;
  /** Milliseconds. */
  readonly position: number;
  readonly id: string;
}

/** Whether an operator changed something, or read it. */
export type Deed = "change" | "read";

const KEPT_MS = 400 * 86_400_000;
const OPERATOR = "operator ";
const READ = "operator.read";

export const peopleLogRecord = defineRecord<PlaceOfEntry>({
  name: "people_log",
  keyParts: ["`change` or `read`", "time (newest first)", "random id"],
  what: "The place of an entry of a history whose actor is an operator.",
  schema: z.looseObject({ subject: text, position: instant, id: text }),
  version: 1,
  lifetime: "400 days. The entry stays.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** Returns where the index is read from: entries of the first millisecond after `until`, and older ones. */
export function peopleLogStart(deed: Deed, until: number): Key {
  return [peopleLogRecord.name, deed, newestFirstPart(until)];
}

/** Stages the place of an entry, if an operator is its actor. */
export function stagePeopleLog(tx: Transaction, place: PlaceOfEntry, { at, actor, event }: AuditEntry): void {
  if (!actor.startsWith(OPERATOR)) return;
  const deed: Deed = event === READ ? "read" : "change";
  peopleLogRecord.set(tx, [peopleLogRecord.name, deed, newestFirstPart(at), place.id], place, at + KEPT_MS);
}
