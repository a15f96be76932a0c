/**
 * Holds a bank that registers soon after a restore. The copy may be from before its registration, so the platform
 * cannot know that the bank is new. Payments that were made at it since the copy would be unknown, and made again.
 */
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { Store } from "../../../base/store/store.ts";
import type { Transaction } from "../../../base/store/transaction.ts";
import { listEpochs } from "./epoch_store.ts";
import { findHold, lastOfHolds, MARGIN_MS, restoredFrom, stageHold } from "./hold_store.ts";

/** A bank that lost its registration notices that within this time, milliseconds. */
const HOLDS_NEW_BANKS_MS = 30 * 86_400_000;

/** Stages the hold of a new bank if it needs one. `at` is in milliseconds. */
export type HoldNewBank = (tx: Transaction, bank: BankCode, at: number) => Promise<void>;

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
