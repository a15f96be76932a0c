/** Stores the subscriptions to events: at most one of a client at a bank. */
import { z } from "zod";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { bankCode, clientId, defineRecord, flag, instant, optional, text } from "../../base/store/record.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, remove, type Transaction } from "../../base/store/transaction.ts";
import { subscriptionKey } from "../config/store_keys.ts";
import type { EventOwner } from "./event_store.ts";
import type { Subscription } from "./subscription.ts";

export interface SubscriptionStore {
  find(from: Reader, owner: EventOwner): Promise<Entry<Subscription> | null>;
  /** Returns subscriptions in the order of their owners, after `after`. */
  list(after: EventOwner | undefined, limit: number): Promise<readonly Subscription[]>;
  /** Returns the client's subscriptions, at most 50. */
  ofClient(clientId: ClientId): Promise<readonly Subscription[]>;
  /** Stages a subscription in place of `former`, or the first one. Of parallel changes one commits. */
  stage(tx: Transaction, former: Entry<Subscription> | null, subscription: Subscription): void;
  stageEnd(tx: Transaction, former: Entry<Subscription>): void;
}

export const subscriptionRecord = defineRecord<Subscription>({
  name: "event_subscription",
  keyParts: ["client id", "bank code"],
  what: "A TPP's subscription to its events: where they are pushed, if they are.",
  schema: z.looseObject({
    id: text,
    clientId,
    bank: bankCode,
    callbackUrl: optional(text),
    namesTypes: flag,
    createdAt: instant,
    updatedAt: instant,
  }),
  version: 1,
  lifetime: "Until the TPP deletes it.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

const MAX_OF_CLIENT = 50;

export function openSubscriptionStore(store: Store): SubscriptionStore {
  return {
    find: (from, { clientId, bank }) => subscriptionRecord.get(from, subscriptionKey(clientId, bank)),
    async list(after, limit) {
      const start = after === undefined ? {} : { after: subscriptionKey(after.clientId, after.bank) };
      const listed = await store.list({ prefix: ["event_subscription"], ...start, limit });
      return listed.map((entry) => subscriptionRecord.decode(entry).value);
    },
    async ofClient(clientId) {
      const listed = await store.list({ prefix: ["event_subscription", clientId], limit: MAX_OF_CLIENT });
      return listed.map((entry) => subscriptionRecord.decode(entry).value);
    },
    stage(tx, former, subscription) {
      const key = subscriptionKey(subscription.clientId, subscription.bank);
      check(tx, key, former?.version ?? null);
      subscriptionRecord.set(tx, key, subscription);
    },
    stageEnd(tx, former) {
      check(tx, former.key, former.version);
      remove(tx, former.key);
    },
  };
}
