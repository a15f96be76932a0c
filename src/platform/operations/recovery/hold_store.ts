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
import { listEpochs } from "./epoch_store.ts";

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

export function findHold(from: Reader, bank: BankCode): Promise<Entry<Hold> | null> {
  return orderHoldRecord.get(from, orderHoldKey(bank));
}

/** Returns every hold. Each bank has at most one. */
export async function listHolds(store: Store): Promise<readonly Hold[]> {
  return (await orderHoldRecord.list(store, { limit: MAX_BANKS })).map(({ value }) => value);
}

/** Returns whether the orders of a bank are held. */
export async function isHeld(from: Reader, bank: BankCode): Promise<boolean> {
  return await findHold(from, bank) !== null;
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
    findHold(from, bank),
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
  check(tx, controlledPartyKey(holdHistoryOf(bank)), ended?.version ?? null);
  const recorded = record(tx, holdHistoryOf(bank), (former ?? ended)?.value ?? null, entry);
  const begun = { ...hold, comparison: NOTHING_COMPARED, ...recorded };
  orderHoldRecord.replace(tx, orderHoldKey(bank), former, begun);
}

/** Stages the end of a hold, with its actor and reason in the history of the bank's holds. */
export function stageRelease(
  tx: Transaction,
  former: Entry<Hold>,
  { actor, reason, at }: { readonly actor: string; readonly reason: string; readonly at: number },
): void {
  check(tx, former.key, former.version);
  remove(tx, former.key);
  const history = holdHistoryOf(former.value.bank);
  const event = { at, event: "order_hold.released", actor, reason };
  controlledPartyRecord.set(tx, controlledPartyKey(history), record(tx, history, former.value, event));
}

// While a bank's orders are held after a restore, the platform does not know which of its payments the bank has
// executed. A TPP that received "rejected" or "not found" could make its customer pay again, so it gets 503 instead
// (Decision G9).

const RETRY_AFTER_SECONDS = 60;

/**
 * For TPPs' requests at a bank.
 *
 * @throws {ApiError} `platform.unavailable` while the bank's orders are held
 */
export async function rejectWhileHeld(from: Reader, bank: BankCode): Promise<void> {
  if (!await isHeld(from, bank)) return;
  throw new ApiError("platform.unavailable", {
    detail: "the bank is not reconciled after a restore",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** A bank that lost its registration notices that within this time, milliseconds. */
const HOLDS_NEW_BANKS_MS = 30 * 86_400_000;

/** Stages the hold of a new bank if it needs one. `at` is in milliseconds. */
type HoldNewBank = (tx: Transaction, bank: BankCode, at: number) => Promise<void>;

export function holdNewBank(store: Store): HoldNewBank {
  return async (tx, bank, at) => {
    const recent = await listEpochs(store, at - HOLDS_NEW_BANKS_MS);
    const epoch = recent.at(-1);
    if (epoch === undefined || await findHold(tx, bank) !== null) return;
    // The bank may have been away since an earlier restore.
    const since = Math.min(...recent.map(({ copy }) => copy.takenAt)) - MARGIN_MS;
    stageHold(
      tx,
      await lastOfHolds(tx, bank),
      { bank, epoch: epoch.id, restoredAt: epoch.startedAt, since },
      at,
      restoredFrom(epoch),
    );
  };
}
