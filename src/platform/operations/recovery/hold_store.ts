/** Stores holds by bank, and rejects the requests that may not be answered while a bank is held. */
import { z } from "zod";
import {
  bankCode,
  count,
  defineRecord,
  instant,
  optional,
  paymentId,
  text,
} from "../../../base/store/record.ts";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { record, type Recorded, recordedMembers } from "../../evidence/audit_trail.ts";
import { controlledPartyRecord } from "../../guards/security/controls_store.ts";
import { controlledPartyKey, orderHoldKey } from "../../config/store_keys.ts";
import type { Entry, Reader, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import { type Epoch, type Hold, NOTHING_COMPARED } from "./hold.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";

export interface HoldStore {
  find(from: Reader, bank: BankCode): Promise<Entry<Hold> | null>;
  /** Returns every hold. Each bank has at most one. */
  all(): Promise<readonly Hold[]>;
  /** Stages a change. Of parallel comparisons only one commits. */
  stageChange(tx: Transaction, former: Entry<Hold>, changed: Hold): void;
  /** Stages the end of a hold, with its actor and reason in the history of the bank's holds. */
  stageRelease(tx: Transaction, former: Entry<Hold>, by: { actor: string; reason: string; at: number }): void;
}

export const orderHoldRecord = defineRecord<Hold>({
  name: "order_hold",
  keyParts: ["bank code"],
  what: "A bank whose orders are held after a restore, with the comparison under way.",
  schema: z.looseObject({
    bank: bankCode,
    epoch: text,
    restoredAt: instant,
    since: instant,
    ...recordedMembers,
    after: optional(text),
    comparison: z.looseObject({
      recovered: count,
      updated: count,
      agreed: count,
      disagreements: z.array(z.looseObject({ paymentId, why: text })),
    }),
  }),
  version: 1,
  lifetime: "Until the bank is reconciled or an operator releases its orders.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "held",
});

const MAX_BANKS = 10_000;
/** Tolerance between the times of the copy, the bank and the platform, milliseconds. */
export const MARGIN_MS = 3_600_000;

/** Subject of the history of a bank's holds. */
export function holdHistoryOf(bank: string): string {
  return `order hold ${bank}`;
}

/** Returns a check whether the orders of a bank are held. */
export function isHeldIn(holds: Pick<HoldStore, "find">): (from: Reader, bank: BankCode) => Promise<boolean> {
  return async (from, bank) => await holds.find(from, bank) !== null;
}

/** Returns why the orders of an epoch are held, for histories. */
export function restoredFrom({ copy }: Epoch): string {
  return `the store was restored from a copy of ${wireDateTime(copy.takenAt)}`;
}

/** The bank's hold, and the place of the newest entry of its holds if the last one has ended. */
export interface LastOfHolds {
  readonly hold: Entry<Hold> | null;
  readonly ended: Entry<Recorded> | null;
}

export async function lastOfHolds(from: Reader, bank: BankCode): Promise<LastOfHolds> {
  const [hold, ended] = await Promise.all([
    orderHoldRecord.get(from, orderHoldKey(bank)),
    controlledPartyRecord.get(from, controlledPartyKey(holdHistoryOf(bank))),
  ]);
  return { hold, ended };
}

/**
 * Stages the beginning of a hold in place of the bank's former one. Processes that start at once after a restore do so
 * too, and one of them succeeds.
 */
export function stageHold(
  tx: Transaction,
  { hold: former, ended }: LastOfHolds,
  hold: Omit<Hold, "recorded" | "sequence" | "comparison">,
  at: number,
  reason: string,
): void {
  const { bank } = hold;
  const entry = { at, event: "order_hold.begun", actor: "platform", reason };
  check(tx, orderHoldKey(bank), former?.version ?? null);
  check(tx, controlledPartyKey(holdHistoryOf(bank)), ended?.version ?? null);
  const recorded = record(tx, holdHistoryOf(bank), (former ?? ended)?.value ?? null, entry);
  orderHoldRecord.set(tx, orderHoldKey(bank), { ...hold, comparison: NOTHING_COMPARED, ...recorded });
}

export function openHoldStore(store: Store): HoldStore {
  return {
    find: (from, bank) => orderHoldRecord.get(from, orderHoldKey(bank)),
    async all() {
      const entries = await store.list({ prefix: ["order_hold"], limit: MAX_BANKS });
      return entries.map((entry) => orderHoldRecord.decode(entry).value);
    },
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      orderHoldRecord.set(tx, former.key, changed);
    },
    stageRelease(tx, former, { actor, reason, at }) {
      check(tx, former.key, former.version);
      remove(tx, former.key);
      const history = holdHistoryOf(former.value.bank);
      const event = { at, event: "order_hold.released", actor, reason };
      controlledPartyRecord.set(tx, controlledPartyKey(history), record(tx, history, former.value, event));
    },
  };
}

// While a bank's orders are held after a restore, the platform does not know which of its payments the bank has
// executed. A TPP that received "rejected" or "not found" could make its customer pay again, so it gets 503 instead
// (Decision G9).

const RETRY_AFTER_SECONDS = 60;

/**
 * Returns a check for TPPs' requests at a bank. It throws {ApiError} `platform.unavailable` while the bank's orders
 * are held.
 */
export function rejectWhileHeld(
  holds: Pick<HoldStore, "find">,
): (from: Reader, bank: BankCode) => Promise<void> {
  const isHeld = isHeldIn(holds);
  return async (from, bank) => {
    if (!await isHeld(from, bank)) return;
    throw new ApiError("platform.unavailable", {
      detail: "the bank is not reconciled after a restore",
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
}
