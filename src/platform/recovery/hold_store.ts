/** Stores holds by bank. Orders are delivered to banks without a hold. */
import { asBankCode, type BankCode } from "../../base/kernel/identifiers.ts";
import { record } from "../audit_trail.ts";
import { orderHoldKey } from "../store_keys.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, remove, set, type Transaction } from "../../base/store/transaction.ts";
import type { Hold } from "./hold.ts";

export interface HoldStore {
  find(bank: BankCode, from?: Reader): Promise<Entry<Hold> | null>;
  /** Returns every hold. Each bank has at most one. */
  all(): Promise<readonly Hold[]>;
  /** Stages a change. Of parallel comparisons only one commits. */
  stageChange(tx: Transaction, former: Entry<Hold>, changed: Hold): void;
  /** Stages the end of a hold, with its actor and reason in the history of the bank's holds. */
  stageRelease(tx: Transaction, former: Entry<Hold>, by: { actor: string; reason: string; at: number }): void;
}

const MAX_BANKS = 10_000;

/** Subject of the history of a bank's holds. */
export function holdHistoryOf(bank: string): string {
  return `order hold ${bank}`;
}

export function openHoldStore(store: Store): HoldStore {
  return {
    find: (bank, from = store) => from.get<Hold>(orderHoldKey(bank)),
    async all() {
      const entries = await store.list<Hold>({ prefix: ["order_hold"], limit: MAX_BANKS });
      return entries.flatMap(({ value }) => asBankCode(value.bank) === undefined ? [] : [value]);
    },
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      set(tx, former.key, changed);
    },
    stageRelease(tx, former, { actor, reason, at }) {
      check(tx, former.key, former.version);
      remove(tx, former.key);
      record(tx, holdHistoryOf(former.value.bank), { at, event: "order_hold.released", actor, reason });
    },
  };
}
