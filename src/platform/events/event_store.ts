/**
 * Stores the events that TPPs have not acknowledged. An event is staged in the commit of the change that it is about, so
 * neither exists without the other, and under a key of its own, so that parallel changes do not wait for each other. Keys
 * are in the order of each resource's history (Decision M2). A reader keeps no place in that order: it reads from the
 * start what is not acknowledged, so an event that is committed late behind younger ones is not missed.
 */
import { z } from "zod";
import type { Clock } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { defineRecord, optional } from "../../base/store/record.ts";
import { consentId, count, instant, text } from "../../base/store/record_fields.ts";
import type { Entry, Key, Reader, Store } from "../../base/store/store.ts";
import { check, remove, type Transaction } from "../../base/store/transaction.ts";
import { eventKey } from "../store_keys.ts";
import { EVENT_TYPES, type EventPlace, type StatusChange, type StoredEvent } from "./event.ts";

/** Whose events, and from which bank. */
export interface EventOwner {
  readonly clientId: ClientId;
  readonly bank: BankCode;
}

/** An event and its place. */
export interface PlacedEvent extends EventPlace {
  readonly entry: Entry<StoredEvent>;
}

/** Stages the event of a change, in the transaction of the change. */
export type StageEvent = (tx: Transaction, change: StatusChange) => void;

export interface EventStore {
  readonly stage: StageEvent;
  /** Returns the first events of the owner that may be sent now, in the order of their keys. */
  due(owner: EventOwner, limit: number): Promise<readonly PlacedEvent[]>;
  find(from: Reader, owner: EventOwner, place: EventPlace): Promise<Entry<StoredEvent> | null>;
  /** Stages the changed event. The commit fails if it was changed or acknowledged meanwhile. */
  stageChange(tx: Transaction, former: Entry<StoredEvent>, changed: StoredEvent): void;
  /** Stages the deletion of an event that its TPP has acknowledged. It need not exist. */
  stageGone(tx: Transaction, owner: EventOwner, place: EventPlace): void;
  /** Calls `wake` when this process has committed an event of the owner, until the function that it returns is called. */
  onStaged(owner: EventOwner, wake: () => void): () => void;
}

export const eventRecord = defineRecord<StoredEvent>({
  name: "event",
  keyParts: ["client id", "bank code", "position in the history (ms)", "consent id or payment id"],
  what: "A change of a consent or a payment that its TPP has not acknowledged. Ids and statuses only.",
  schema: z.looseObject({
    type: z.enum(EVENT_TYPES),
    consentId,
    status: text,
    at: instant,
    stagedAt: instant,
    interactionId: optional(text),
    failures: optional(count),
    retryAt: optional(instant),
  }),
  version: 1,
  lifetime: "Until it is acknowledged, at most `EVENT_DAYS`.",
  personalData: "pseudonymous",
  retention: "protocol",
});

const PAGE = 100;
/** Bounds the search for events that may be sent behind those whose TPP has reported an error. */
const MAX_PAGES = 10;

export interface EventStoreDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long an event is kept that is not acknowledged, milliseconds. */
  readonly keepMs: number;
}

export function openEventStore({ store, clock, keepMs }: EventStoreDeps): EventStore {
  const { wake, onStaged } = openWakes();
  const isDue = ({ entry: { value } }: PlacedEvent): boolean =>
    clock() < value.stagedAt + keepMs && clock() >= (value.retryAt ?? 0);
  return {
    stage(tx, change) {
      const stagedAt = clock();
      const { type, consentId, status, at } = change;
      const cause = tx.interactionId === undefined ? {} : { interactionId: tx.interactionId };
      const event = { type, consentId, status, at, stagedAt, ...cause };
      eventRecord.set(tx, keyOf(change, change), event, stagedAt + keepMs);
      tx.onCommit.push(() => wake(change));
    },
    due: (owner, limit) => listDue(store, owner, limit, isDue),
    find: (from, owner, place) => eventRecord.get(from, keyOf(owner, place)),
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      eventRecord.set(tx, former.key, changed, changed.stagedAt + keepMs);
    },
    stageGone: (tx, owner, place) => remove(tx, keyOf(owner, place)),
    onStaged,
  };
}

async function listDue(
  store: Store,
  { clientId, bank }: EventOwner,
  limit: number,
  isDue: (event: PlacedEvent) => boolean,
): Promise<readonly PlacedEvent[]> {
  const found: PlacedEvent[] = [];
  let page: readonly Entry<unknown>[] = [];
  for (let pages = 0; pages < MAX_PAGES && found.length < limit; pages++) {
    const after = page.at(-1)?.key;
    const start = after === undefined ? {} : { after };
    page = await store.list({ prefix: eventKey(clientId, bank), ...start, limit: PAGE });
    found.push(...page.map(placed).filter(isDue));
    if (page.length < PAGE) break;
  }
  return found.slice(0, limit);
}

/** The polls of this process that wait, by owner. */
function openWakes(): Pick<EventStore, "onStaged"> & { readonly wake: (owner: EventOwner) => void } {
  const waiting = new Map<string, Set<() => void>>();
  const nameOf = ({ clientId, bank }: EventOwner): string => `${clientId} ${bank}`;
  return {
    wake: (owner) => waiting.get(nameOf(owner))?.forEach((wake) => wake()),
    onStaged(owner, wake) {
      const name = nameOf(owner);
      const wakes = waiting.get(name) ?? new Set();
      waiting.set(name, wakes.add(wake));
      return () => {
        wakes.delete(wake);
        if (wakes.size === 0) waiting.delete(name);
      };
    },
  };
}

function keyOf({ clientId, bank }: EventOwner, { position, resource }: EventPlace): Key {
  return eventKey(clientId, bank, position, resource);
}

function placed(entry: Entry<unknown>): PlacedEvent {
  const [position = "", resource = ""] = entry.key.slice(-2);
  return { position: Number(position), resource, entry: eventRecord.decode(entry) };
}
