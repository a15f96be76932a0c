/** Stores the health of banks: one state for every process (contract BH1). A bank without a record is available. */
import { keepFor } from "../../../base/kernel/recently_used.ts";
import { z } from "zod";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import { bankCode, defineRecord, instant, text } from "../../../base/store/record.ts";
import type { Entry, Store } from "../../../base/store/store.ts";
import { type BankHealth, HEALTH_STATES } from "./bank_health.ts";

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
