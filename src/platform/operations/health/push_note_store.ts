/** Stores the last pushes of each process, so that every process judges a bank by all of them (contract OP30, BH1). */
import { z } from "zod";
import { type LastPush, type ProcessPushes, PUSHES_KEPT_MS } from "../../observed/figures/last_pushes.ts";
import { defineRecord, flag, instant, text } from "../../../base/store/record.ts";
import type { Store, Write } from "../../../base/store/store.ts";
import { lastPushesKey } from "../../config/store_keys.ts";

/** Also of a process that starts again each second. */
const MAX_NOTES = 2000;

const push = z.looseObject({ at: instant, isAnswered: flag, milliseconds: z.number() });

export const lastPushesRecord = defineRecord<ProcessPushes>({
  name: "last_pushes",
  keyParts: ["id of the start of a process, and number of the note"],
  what: "When a process pushed orders to each bank last, and whether the bank answered.",
  schema: z.looseObject({ id: text, banks: z.array(z.looseObject({ bank: text, pushes: z.array(push) })) }),
  version: 1,
  lifetime: "15 minutes after the last push.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

/** Overwrites those of a note. @throws {StoreFailure} */
export async function notePushes(store: Store, pushes: ProcessPushes): Promise<void> {
  const writes: Write[] = [];
  const last = Math.max(...pushes.banks.flatMap((one) => one.pushes).map(({ at }: LastPush) => at));
  lastPushesRecord.set({ writes }, lastPushesKey(pushes.id), pushes, last + PUSHES_KEPT_MS);
  await store.commit({ checks: [], writes });
}

/** Returns those of all processes, also of processes that have stopped since. */
export async function listPushNotes(store: Store): Promise<readonly ProcessPushes[]> {
  return (await lastPushesRecord.list(store, { limit: MAX_NOTES })).map(({ value }) => value);
}
