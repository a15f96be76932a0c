/**
 * Stores the events that TPPs have not acknowledged, and for a replay those that they have. An event is staged in the
 * commit of the change that it is about, so neither exists without the other, and under a key of its own, so that parallel
 * changes do not wait for each other. Keys are in the order of each resource's history (Decision M2). A reader keeps no
 * place in that order: it reads from the start what is not acknowledged, so an event that is committed late behind younger
 * ones is not missed.
 */
import type { Clock } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import type { Entry, Key, Reader, Store } from "../../base/store/store.ts";
import { causeOf, check, remove, type Transaction } from "../../base/store/transaction.ts";
import { finishedEventKey, noticeKey } from "../config/store_keys.ts";
import { bankNotice } from "./bank_notice.ts";
import {
  afterPlace,
  byPlace,
  decodeFinished,
  type EventPlace,
  eventRecord,
  type FinishedEvent,
  keyOf,
  type Notice,
  noticeRecord,
  placeIn,
  prefixesOf,
  recordAt,
  stageFinished,
  stageWaiting,
  type StatusChange,
  type StoredEvent,
  whyOf,
} from "./event.ts";

/** Whose events, and from which bank. */
export interface EventOwner {
  readonly clientId: ClientId;
  readonly bank: BankCode;
  /** The bank's client, if the events are the bank's own ({@link bankAsOwner}). */
  readonly audience?: ClientId;
}

/**
 * A bank as the owner of its own events. They lie under its code, because a change of a consent or payment knows no client
 * of the bank. No client id has the form of a code.
 */
export function bankAsOwner(
  { code, clientId }: { readonly code: BankCode; readonly clientId?: ClientId },
): EventOwner {
  const owner = { clientId: code as string as ClientId, bank: code };
  return clientId === undefined ? owner : { ...owner, audience: clientId };
}

/** Whom a notice is for. Without a bank, the polls at each bank return it until one of them acknowledges it. */
export type NoticeOwner = Pick<EventOwner, "clientId"> & Partial<EventOwner>;

/** An event and its place. */
export interface PlacedEvent extends EventPlace {
  readonly entry: Entry<StoredEvent>;
}

/** An acknowledged event and its place. */
export interface FinishedPlace extends EventPlace {
  readonly value: FinishedEvent;
}

/** Stages the event of a change, in the transaction of the change. */
export type StageEvent = (tx: Transaction, change: StatusChange) => void;

export interface EventStore {
  readonly stage: StageEvent;
  /** Stages a notice at a place that no other notice has. */
  stageNotice(tx: Transaction, to: NoticeOwner, place: EventPlace, notice: Notice): void;
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

const PAGE = 100;
/** Bounds the search for events that may be sent behind those whose TPP has reported an error. */
const MAX_PAGES = 10;
/** Events that have expired and are not deleted are passed over in such pages, 10 at most. */
const EXPIRED_PAGE = 500;

export interface EventStoreDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long an event is kept that is not acknowledged, milliseconds. */
  readonly keepMs: number;
  /** Of the API. */
  readonly baseUrl: string;
}

export function openEventStore(deps: EventStoreDeps): EventStore {
  const { store, clock, keepMs, baseUrl } = deps;
  const { wake, wakePolls, ...wakes } = openWakes();
  const stageNotice = openNoticeStaging(deps, wakePolls);
  const waiting: EventStore["waiting"] = (owner, limit, after) =>
    listKept(
      (size, last) => listWaiting(store, owner, size, last),
      ({ entry }) => clock() < entry.value.stagedAt + keepMs,
      limit,
      after,
    );
  const isDue = ({ entry: { value } }: PlacedEvent): boolean => clock() >= (value.retryAt ?? 0);
  return {
    stage(tx, change) {
      const stagedAt = clock();
      const { type, consentId, status, at } = change;
      const event = { type, consentId, status, ...whyOf(change), at, stagedAt, ...causeOf(tx) };
      eventRecord.set(tx, keyOf(change, change), event, stagedAt + keepMs);
      tx.onCommit.push(() => wake(change));
      if (change.forBank === undefined) return;
      const place = { position: change.position, resource: `b-${change.resource}` };
      stageNotice(tx, bankAsOwner({ code: change.bank }), place, bankNotice(change, change.forBank, baseUrl));
    },
    stageNotice,
    due: (owner, limit) => listDue((size, after) => waiting(owner, size, after), limit, isDue),
    find: (from, owner, place) => findAt(from, keyOf(owner, place)),
    at: findAt,
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      stageWaiting(tx, former.key, changed, changed.stagedAt + keepMs);
    },
    waiting,
    ...finishedEvents(deps),
    wake,
    ...wakes,
  };
}

function openNoticeStaging(
  { clock, keepMs }: EventStoreDeps,
  wakePolls: (owner: NoticeOwner) => void,
): EventStore["stageNotice"] {
  return (tx, { clientId, bank }, { position, resource }, { type, status, at, about, link, details }) => {
    const stagedAt = clock();
    const notice = { type, status, at, about, link, details, stagedAt, ...causeOf(tx) };
    noticeRecord.set(tx, noticeKey(clientId, bank, position, resource), notice, stagedAt + keepMs);
    tx.onCommit.push(() => wakePolls(bank === undefined ? { clientId } : { clientId, bank }));
  };
}

/** The events that TPPs have acknowledged, which wait again after a replay. */
function finishedEvents(
  { store, clock, keepMs }: EventStoreDeps,
): Pick<EventStore, "finished" | "stageAgain" | "stageDone"> {
  return {
    async finished(owner, from, to, limit) {
      const prefixes = prefixesOf(owner).map(finishedEventKey);
      const list = async (size: number, after?: EventPlace): Promise<readonly FinishedPlace[]> =>
        (await listFirst(store, prefixes, size, after))
          .map((entry) => ({ ...placeIn(entry.key), value: decodeFinished(entry).value }));
      const isKept = ({ value }: FinishedPlace): boolean => clock() < value.stagedAt + keepMs;
      return (await listKept(list, isKept, limit, { position: from, resource: "" }))
        .filter(({ position }) => position <= to);
    },
    stageAgain(tx, owner, { value, ...place }) {
      const key = keyOf(owner, place);
      check(tx, key, null);
      stageWaiting(tx, key, value, value.stagedAt + keepMs);
    },
    stageDone(tx, { key, value }) {
      const { failures: _, retryAt: __, push: ___, ...finished } = value;
      remove(tx, key);
      stageFinished(tx, key, finished, value.stagedAt + keepMs);
    },
  };
}

/**
 * Lists behind events that have expired, which the database may not have deleted yet: fewer than `limit` are the last
 * ones.
 */
async function listKept<Event extends EventPlace>(
  list: (size: number, after?: EventPlace) => Promise<readonly Event[]>,
  isKept: (event: Event) => boolean,
  limit: number,
  after?: EventPlace,
): Promise<readonly Event[]> {
  const found: Event[] = [];
  let [size, last] = [limit, after];
  for (let pages = 0; pages <= MAX_PAGES && found.length < limit; pages++) {
    const page = await list(size, last);
    found.push(...page.filter(isKept));
    if (page.length < size) break;
    [size, last] = [Math.max(limit, EXPIRED_PAGE), page.at(-1)];
  }
  return found.slice(0, limit);
}

async function listDue(
  list: (size: number, after?: EventPlace) => Promise<readonly PlacedEvent[]>,
  limit: number,
  isDue: (event: PlacedEvent) => boolean,
): Promise<readonly PlacedEvent[]> {
  const found: PlacedEvent[] = [];
  let page: readonly PlacedEvent[] = [];
  for (let pages = 0; pages < MAX_PAGES && found.length < limit; pages++) {
    page = await list(PAGE, page.at(-1));
    found.push(...page.filter(isDue));
    if (page.length < PAGE) break;
  }
  return found.slice(0, limit);
}

async function findAt(from: Reader, key: Key): Promise<Entry<StoredEvent> | null> {
  return await recordAt(key).get(from, key);
}

async function listWaiting(
  store: Store,
  owner: EventOwner,
  limit: number,
  after: EventPlace | undefined,
): Promise<readonly PlacedEvent[]> {
  const listed = await listFirst(store, prefixesOf(owner), limit, after);
  return listed.map((entry) => ({ ...placeIn(entry.key), entry: recordAt(entry.key).decode(entry) }));
}

/** Returns the first entries after a place, of those below several prefixes. */
async function listFirst(
  store: Store,
  prefixes: readonly Key[],
  limit: number,
  place: EventPlace | undefined,
): Promise<readonly Entry<unknown>[]> {
  const pages = await Promise.all(prefixes.map((prefix) => {
    const start = place === undefined ? {} : { after: afterPlace(prefix, place) };
    return store.list({ prefix, ...start, limit });
  }));
  const all = pages.flat();
  return all.toSorted((one, other) => byPlace(placeIn(one.key), placeIn(other.key))).slice(0, limit);
}

/** The polls of this process that wait, by owner. */
function openWakes(): Pick<EventStore, "wake" | "onStaged" | "onEveryStaged"> & {
  /** Without a bank, the polls of the client at every bank. */
  readonly wakePolls: (owner: NoticeOwner) => void;
} {
  const waiting = new Map<string, Set<() => void>>();
  const every: ((owner: EventOwner) => void)[] = [];
  const nameOf = ({ clientId, bank }: EventOwner): string => `${clientId} ${bank}`;
  const wakePolls = ({ clientId, bank }: NoticeOwner): void => {
    for (const [name, wakes] of waiting) {
      const isWoken = bank === undefined
        ? name.startsWith(`${clientId} `)
        : name === nameOf({ clientId, bank });
      if (isWoken) wakes.forEach((wake) => wake());
    }
  };
  return {
    wakePolls,
    wake({ clientId, bank }) {
      wakePolls({ clientId, bank });
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
