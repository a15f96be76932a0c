/**
 * Stores the events that TPPs have not acknowledged, and for a replay those that they have. An event is staged in the commit of the change that it is about, so
 * neither exists without the other, and under a key of its own, so that parallel changes do not wait for each other. Keys
 * are in the order of each resource's history (Decision M2). A reader keeps no place in that order: it reads from the
 * start what is not acknowledged, so an event that is committed late behind younger ones is not missed.
 */
import { z } from "zod";
import type { Clock } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { defineRecord, optional } from "../../base/store/record.ts";
import { consentId, count, flag, instant, text } from "../../base/store/record_fields.ts";
import type { Entry, Key, Reader, Store } from "../../base/store/store.ts";
import { check, remove, type Transaction } from "../../base/store/transaction.ts";
import { eventKey, finishedEventKey } from "../store_keys.ts";
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

/** An event that its TPP has acknowledged: what its token is made of. */
export type FinishedEvent = Omit<StoredEvent, "failures" | "retryAt" | "push">;

/** An acknowledged event and its place. */
export interface FinishedPlace extends EventPlace {
  readonly value: FinishedEvent;
}

/** Stages the event of a change, in the transaction of the change. */
export type StageEvent = (tx: Transaction, change: StatusChange) => void;

export interface EventStore {
  readonly stage: StageEvent;
  /** Returns the first events of the owner that may be sent now, in the order of their keys. */
  due(owner: EventOwner, limit: number): Promise<readonly PlacedEvent[]>;
  find(from: Reader, owner: EventOwner, place: EventPlace): Promise<Entry<StoredEvent> | null>;
  /** Like `find`, by the key of an event that was found before. */
  at(from: Reader, key: Key): Promise<Entry<StoredEvent> | null>;
  /** Stages the changed event. The commit fails if it was changed or acknowledged meanwhile. */
  stageChange(tx: Transaction, former: Entry<StoredEvent>, changed: StoredEvent): void;
  /** Returns all events of the owner that are not acknowledged, in the order of their keys, after `after`. */
  waiting(owner: EventOwner, limit: number, after?: EventPlace): Promise<readonly PlacedEvent[]>;
  /** Returns the owner's acknowledged events of a time, in the order of their keys. Both ends are included, milliseconds. */
  finished(owner: EventOwner, from: number, to: number, limit: number): Promise<readonly FinishedPlace[]>;
  /** Stages that an acknowledged event waits again. The commit fails if it waits already. */
  stageAgain(tx: Transaction, owner: EventOwner, event: FinishedPlace): void;
  /**
   * Stages the end of an event that its TPP has acknowledged, by a poll or to a push: it is finished for both. It is
   * kept for a replay. It need not be there any more when the commit happens.
   */
  stageDone(tx: Transaction, acknowledged: Entry<StoredEvent>): void;
  /** Calls `wake` when this process has committed an event of the owner, until the function that it returns is called. */
  onStaged(owner: EventOwner, wake: () => void): () => void;
  /** Tells this process that events of the owner wait again. */
  wake(owner: EventOwner): void;
  /** Calls `wake` whenever this process has committed an event. It must not throw. */
  onEveryStaged(wake: (owner: EventOwner) => void): void;
}

const event = {
  type: z.enum(EVENT_TYPES),
  consentId,
  status: text,
  at: instant,
  stagedAt: instant,
  interactionId: optional(text),
};

export const eventRecord = defineRecord<StoredEvent>({
  name: "event",
  keyParts: ["client id", "bank code", "position in the history (ms)", "consent id or payment id"],
  what: "A change of a consent or a payment that its TPP has not acknowledged. Ids and statuses only.",
  schema: z.looseObject({
    ...event,
    failures: optional(count),
    retryAt: optional(instant),
    push: optional(z.looseObject({
      failures: count,
      rejections: optional(count),
      dueAt: instant,
      dead: flag,
      why: optional(text),
    })),
  }),
  version: 1,
  lifetime: "Until it is acknowledged, at most `EVENT_DAYS`.",
  personalData: "pseudonymous",
  retention: "protocol",
});

export const finishedEventRecord = defineRecord<FinishedEvent>({
  name: "event_finished",
  keyParts: ["client id", "bank code", "position in the history (ms)", "consent id or payment id"],
  what: "An event that its TPP has acknowledged, for a replay. Ids and statuses only.",
  schema: z.looseObject(event),
  version: 1,
  lifetime: "At most `EVENT_DAYS` from the change.",
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
  const { wake, ...wakes } = openWakes();
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
    at: (from, key) => eventRecord.get(from, key),
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      eventRecord.set(tx, former.key, changed, changed.stagedAt + keepMs);
    },
    async waiting(owner, limit, after) {
      const start = after === undefined ? {} : { after: keyOf(owner, after) };
      const listed = await store.list({ prefix: eventKey(owner.clientId, owner.bank), ...start, limit });
      return listed.map(placed).filter(({ entry }) => clock() < entry.value.stagedAt + keepMs);
    },
    ...finishedEvents({ store, clock, keepMs }),
    wake,
    ...wakes,
  };
}

/** The events that TPPs have acknowledged, which wait again after a replay. */
function finishedEvents(
  { store, clock, keepMs }: EventStoreDeps,
): Pick<EventStore, "finished" | "stageAgain" | "stageDone"> {
  return {
    async finished(owner, from, to, limit) {
      const prefix = finishedEventKey(eventKey(owner.clientId, owner.bank));
      const after = finishedEventKey(eventKey(owner.clientId, owner.bank, from));
      const listed = await store.list({ prefix, after, limit });
      return listed.map(finishedPlace).filter(({ position, value }) =>
        position <= to && clock() < value.stagedAt + keepMs
      );
    },
    stageAgain(tx, owner, { value, ...place }) {
      const key = keyOf(owner, place);
      check(tx, key, null);
      eventRecord.set(tx, key, value, value.stagedAt + keepMs);
    },
    stageDone(tx, { key, value }) {
      const { failures: _, retryAt: __, push: ___, ...finished } = value;
      remove(tx, key);
      finishedEventRecord.set(tx, finishedEventKey(key), finished, value.stagedAt + keepMs);
    },
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
function openWakes(): Pick<EventStore, "wake" | "onStaged" | "onEveryStaged"> {
  const waiting = new Map<string, Set<() => void>>();
  const every: ((owner: EventOwner) => void)[] = [];
  const nameOf = ({ clientId, bank }: EventOwner): string => `${clientId} ${bank}`;
  return {
    wake({ clientId, bank }) {
      waiting.get(nameOf({ clientId, bank }))?.forEach((wake) => wake());
      every.forEach((wake) => wake({ clientId, bank }));
    },
    onEveryStaged: (wake) => void every.push(wake),
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

function finishedPlace(entry: Entry<unknown>): FinishedPlace {
  const [position = "", resource = ""] = entry.key.slice(-2);
  return { position: Number(position), resource, value: finishedEventRecord.decode(entry).value };
}
