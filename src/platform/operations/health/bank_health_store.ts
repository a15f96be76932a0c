/** Stores the health of banks: one state for every process (contract BH1). A bank without a record is available. Also the pushes from which it follows. */
import { keepFor } from "../../../base/kernel/recently_used.ts";
import { z } from "zod";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import { bankCode, defineRecord, flag, instant, text } from "../../../base/store/record.ts";
import type { Entry, Store, Write } from "../../../base/store/store.ts";
import { type BankHealth, HEALTH_STATES } from "./bank_health.ts";
import { type LastPush, type ProcessPushes, PUSHES_KEPT_MS } from "../../observed/figures/last_pushes.ts";
import { lastPushesKey } from "../../config/store_keys.ts";

const state = z.enum(HEALTH_STATES);

export const bankHealthRecord = defineRecord<BankHealth>({
  name: "bank_health",
  keyParts: ["bank code"],
  what: "The state of a bank that has been another one than available, and of which state TPPs know.",
  schema: z.looseObject({
    bank: bankCode,
    id: text,
    state,
    since: instant,
    seenAt: instant,
    told: state,
    toldAt: instant,
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "register",
  restore: "kept",
});

const MAX_BANKS = 2000;

/** Returns every stored one. @throws {StoreFailure} */
export function listBankHealth(store: Store): Promise<readonly Entry<BankHealth>[]> {
  return bankHealthRecord.list(store, { limit: MAX_BANKS });
}

/** The health of banks as this process answers it: at most a second old. @throws {StoreFailure} */
export type CurrentHealth = () => Promise<ReadonlyMap<string, BankHealth>>;

const MAX_AGE_MS = 1000;

export function openCurrentHealth(store: Store, steady: SteadyClock): CurrentHealth {
  return keepFor(
    MAX_AGE_MS,
    steady,
    async () => new Map((await listBankHealth(store)).map(({ value }) => [value.bank as string, value])),
  ).get;
}

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
