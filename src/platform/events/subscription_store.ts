/** Stores the subscriptions to events: at most one of a client at a bank. */
import { z } from "zod";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import type { WallTime } from "../../base/kernel/clock.ts";
import { bankCode, clientId, defineRecord, flag, instant, optional, text } from "../../base/store/record.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, remove, type Transaction } from "../../base/store/transaction.ts";
import { subscriptionKey } from "../config/store_keys.ts";
import type { EventOwner } from "./event_store.ts";

/** The fields of a subscription that a TPP chooses. */
export interface SubscriptionTerms {
  /** Where events are pushed. Without it they are for polling alone. */
  readonly callbackUrl?: string;
  /** Whether the TPP has named the event type. */
  readonly namesTypes: boolean;
}

/** A subscription. A client has at most one at a bank. */
export interface Subscription extends SubscriptionTerms {
  /** A UUID. */
  readonly id: string;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  /** Milliseconds. */
  readonly createdAt: WallTime;
  /** Milliseconds. */
  readonly updatedAt: WallTime;
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

export function findSubscription(
  from: Reader,
  { clientId, bank }: EventOwner,
): Promise<Entry<Subscription> | null> {
  return subscriptionRecord.get(from, subscriptionKey(clientId, bank));
}

/** Returns subscriptions in the order of their owners, after `after`. */
export async function listSubscriptions(
  store: Store,
  after: EventOwner | undefined,
  limit: number,
): Promise<readonly Subscription[]> {
  const start = after && subscriptionKey(after.clientId, after.bank);
  return (await subscriptionRecord.list(store, { after: start, limit })).map(({ value }) => value);
}

/** Returns the client's subscriptions, at most 50. */
export async function listClientSubscriptions(
  store: Store,
  clientId: ClientId,
): Promise<readonly Subscription[]> {
  const prefix = [subscriptionRecord.name, clientId];
  return (await subscriptionRecord.list(store, { prefix, limit: MAX_OF_CLIENT })).map(({ value }) => value);
}

/** Stages a subscription in place of `former`, or the first one. Of parallel changes one commits. */
export function stageSubscription(
  tx: Transaction,
  former: Entry<Subscription> | null,
  subscription: Subscription,
): void {
  const { clientId, bank } = subscription;
  subscriptionRecord.replace(tx, subscriptionKey(clientId, bank), former, subscription);
}

export function stageSubscriptionEnd(tx: Transaction, former: Entry<Subscription>): void {
  check(tx, former.key, former.version);
  remove(tx, former.key);
}
