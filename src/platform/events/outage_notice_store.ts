/** Stores changes of planned outages whose notices are not all staged (Decision T4). */
import { z } from "zod";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { bankCode, clientId, defineRecord, instant, optional, text } from "../../base/store/record.ts";
import type { Entry, Store } from "../../base/store/store.ts";
import { causeOf, check, remove, type Transaction } from "../../base/store/transaction.ts";
import type { OutageChange } from "../guards/security/controls_store.ts";
import { outageSpreadKey } from "../config/store_keys.ts";

/** A change whose notices are being staged. */
export interface OutageSpread extends OutageChange {
  /** Of the operator's request. */
  readonly interactionId?: string;
  /** The last client whose notice is staged, in the order of their ids; absent before the first page. */
  readonly after?: ClientId;
}

export const outageSpreadRecord = defineRecord<OutageSpread>({
  name: "outage_spread",
  keyParts: ["bank code", "position in the bank's history (ms)"],
  what: "A change of a planned outage of which not every TPP has its notice yet, and how far that is.",
  schema: z.looseObject({
    id: text,
    bank: bankCode,
    from: instant,
    until: instant,
    text,
    status: z.enum(["announced", "changed", "withdrawn"]),
    at: instant,
    position: instant,
    interactionId: optional(text),
    after: optional(clientId),
  }),
  version: 1,
  lifetime: "Until every TPP has its notice.",
  personalData: "none",
  retention: "protocol",
  restore: "kept",
});

/** Stages a change, in the transaction that makes it. */
export type StageOutageChange = (tx: Transaction, change: OutageChange) => void;

export interface OutageSpreadStore {
  readonly stage: StageOutageChange;
  /** Returns the first change whose notices are not all staged. Those of one bank are in the order of their making. */
  first(): Promise<Entry<OutageSpread> | undefined>;
  /** Stages how far the notices are, or that all are staged. The commit fails if another process was faster. */
  stageProgress(tx: Transaction, former: Entry<OutageSpread>, after: ClientId | undefined): void;
}

export function openOutageSpreadStore(store: Store): OutageSpreadStore {
  return {
    stage(tx, change) {
      const { id, bank, from, until, text, status, at, position } = change;
      const spread = { id, bank, from, until, text, status, at, position, ...causeOf(tx) };
      outageSpreadRecord.set(tx, outageSpreadKey(bank, position), spread);
    },
    async first() {
      const [found] = await store.list({ prefix: [outageSpreadRecord.name], limit: 1 });
      return found === undefined ? undefined : outageSpreadRecord.decode(found);
    },
    stageProgress(tx, { key, value, version }, after) {
      check(tx, key, version);
      if (after === undefined) remove(tx, key);
      else outageSpreadRecord.set(tx, key, { ...value, after });
    },
  };
}
