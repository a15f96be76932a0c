/**
 * Pushes the events of one client at one bank: lease, push, record the outcome. Delivery is at least once. The events of a
 * consent or payment are pushed in their order: none is pushed while an earlier one of the same resource waits. A dead
 * one waits no more.
 */
import { isStoreFailure } from "../../base/kernel/api_error.ts";
import { allEnded, errorText } from "../../base/kernel/batches.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { SteadyClock, SteadyTime, WallTime } from "../../base/kernel/clock.ts";
import { transact, type TransactDeps } from "../../base/store/transaction.ts";
import type { PushMemory } from "./delivery/push_memory.ts";
import type { PushSlots } from "./delivery/push_slots.ts";
import type { Log } from "../observed/log_events.ts";
import { blockEarlier } from "./earlier_events.ts";
import { jtiOf, type StoredEvent } from "./event.ts";
import type { EventOwner, EventStore, PlacedEvent } from "./event_store.ts";
import {
  type EventPushOutcome,
  measurePush,
  pushEvent,
  type PushEventDeps,
  reportPush,
  type ReportPushDeps,
} from "./push_event.ts";
import { afterFailedPush, isHeldForPush, leaseEvent, mayBePushed, pushOf } from "./push_state.ts";
import { signEvent, type SignEventDeps } from "./sign_event.ts";

/** A TPP that takes pushes. */
export interface EventReceiver {
  readonly clientId: ClientId;
  readonly orgId: string;
  readonly uri: string;
}

/** A push and its outcome, for the TPP. */
export interface TracedPush {
  readonly owner: EventOwner;
  readonly to: EventReceiver;
  readonly event: PlacedEvent;
  readonly outcome: EventPushOutcome;
  /** When the push began, and how long it took, milliseconds. */
  readonly at: number;
  readonly milliseconds: number;
}

export interface DeliverEventsDeps extends TransactDeps, PushEventDeps, SignEventDeps, ReportPushDeps {
  /** For durations, and for when to look again. */
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly events: EventStore;
  readonly memory: PushMemory;
  readonly slots: PushSlots<ClientId>;
  /** Must not wait or throw. */
  readonly tracePush: (push: TracedPush) => void;
  /** Returns 0 to less than 1. */
  readonly random: () => number;
}

/** Events that are read at a time, oldest first. */
const PAGE = 200;
/** Bounds the search for due events behind those that wait or are dead. */
const MAX_PAGES = 50;
/** Events that are leased in one commit. */
const BATCH = 20;
/** Pushes of one walk, and its time. The next one, of this owner or another, goes on. */
const MAX_PUSHES = 400;
const MAX_WALK_MS = 30_000;
/** Pages that a walk reads again. More than {@link MAX_PAGES}, so that each walk reaches a page that has a due event. */
const MAX_READ_AGAIN = 60;

/** The result of a walk. */
export interface Walked {
  readonly pushed: number;
  /** Pages of events that it has read. */
  readonly pages: number;
  /** When the earliest event that waits is due, or at once if the walk has ended at its bound; milliseconds. */
  readonly againAt?: number;
}

interface Walk {
  readonly owner: EventOwner;
  readonly receiver: () => Promise<EventReceiver | undefined>;
  readonly isStopped: () => boolean;
  /** When it ends, milliseconds. */
  readonly until: number;
  /** Resources whose next event must wait. */
  readonly blocked: Set<string>;
  pushed: number;
  /** Pages that it has read again. */
  readAgain: number;
  againAt: number;
  /** Whether the TPP takes pushes no more. */
  isRefused: boolean;
}

/**
 * @param receiver returns where the events go now, or undefined if no push is allowed. It is asked before each lease.
 * @throws {StoreFailure}
 */
export async function deliverEvents(
  deps: DeliverEventsDeps,
  owner: EventOwner,
  receiver: Walk["receiver"],
  isStopped: () => boolean,
): Promise<Walked> {
  const counted = {
    blocked: new Set<string>(),
    pushed: 0,
    readAgain: 0,
    againAt: Infinity,
    isRefused: false,
  };
  const walk: Walk = { owner, receiver, isStopped, until: deps.steady() + MAX_WALK_MS, ...counted };
  let page: readonly PlacedEvent[] = [];
  let pages = 0;
  while (pages < MAX_PAGES && !isOver(deps, walk)) {
    page = await deps.events.waiting(owner, PAGE, page.at(-1));
    pages++;
    const [first] = page;
    if (pages > 1 && first !== undefined && hasNext(deps, walk, page)) {
      const earlier = await blockEarlier(deps.events, walk, first);
      walk.readAgain += earlier.pages;
      if (earlier.added) walk.againAt = deps.steady();
    }
    await pushPage(deps, walk, page);
    if (page.length < PAGE) break;
  }
  if (isAtBound(deps, walk)) walk.againAt = deps.steady();
  return { pushed: walk.pushed, pages, ...(walk.againAt === Infinity ? {} : { againAt: walk.againAt }) };
}

function hasNext({ clock }: DeliverEventsDeps, { blocked }: Walk, page: readonly PlacedEvent[]): boolean {
  return page.some(({ resource, entry }) => !blocked.has(resource) && mayBePushed(entry.value, clock()));
}

function isAtBound({ steady }: DeliverEventsDeps, { pushed, readAgain, until }: Walk): boolean {
  return pushed >= MAX_PUSHES || readAgain >= MAX_READ_AGAIN || steady() >= until;
}

function isOver(deps: DeliverEventsDeps, walk: Walk): boolean {
  const { owner: { clientId }, isRefused, isStopped } = walk;
  const { circuit } = deps;
  const isAway = circuit.isOpen(clientId, clientId) || circuit.isPaused(clientId, clientId);
  return isRefused || isStopped() || isAtBound(deps, walk) || isAway;
}

/** Pushes the first event of each resource, then the next ones of those that have been taken. */
async function pushPage(deps: DeliverEventsDeps, walk: Walk, page: readonly PlacedEvent[]): Promise<void> {
  let rest: readonly PlacedEvent[] = page.filter(({ entry }) => !pushOf(entry.value).dead);
  while (!isOver(deps, walk)) {
    const { batch, others } = nextBatch(deps, walk, rest);
    if (batch.length === 0) return;
    rest = others;
    await pushBatch(deps, walk, batch);
  }
}

/** Divides the events: those that may be pushed now, one of each resource, and the others in their order. */
function nextBatch(
  deps: DeliverEventsDeps,
  walk: Walk,
  rest: readonly PlacedEvent[],
): { readonly batch: readonly PlacedEvent[]; readonly others: readonly PlacedEvent[] } {
  const [batch, others]: [PlacedEvent[], PlacedEvent[]] = [[], []];
  const taken = new Set<string>();
  const { owner: { clientId }, blocked } = walk;
  for (const event of rest) {
    const { resource, entry: { value } } = event;
    const isFirst = !blocked.has(resource) && !taken.has(resource);
    const { failures } = pushOf(value);
    const isNext = isFirst && batch.length < BATCH;
    const waitsUntil = !isNext
      ? Infinity
      : waitOf(deps, event, value) ?? deps.circuit.admit({ receiver: clientId, sender: clientId, failures });
    if (waitsUntil === undefined) batch.push(event);
    else others.push(event);
    if (isNext && waitsUntil !== undefined) blocked.add(resource);
    walk.againAt = Math.min(walk.againAt, waitsUntil ?? Infinity);
    taken.add(resource);
  }
  return { batch, others };
}

/** Returns until when this process leaves the event alone, or undefined if it may be pushed now. */
function waitOf(deps: DeliverEventsDeps, event: PlacedEvent, stored: StoredEvent): SteadyTime | undefined {
  const { failures, dueAt, isLeased = false } = pushOf(stored);
  const jti = jtiOf(event);
  if (!isLeased && deps.memory.hasWaited(jti, failures)) return undefined;
  if (mayBePushed(stored, deps.clock())) return deps.memory.waitsUntil(jti, failures);
  return asSteady(deps, dueAt);
}

function asSteady({ clock, steady }: DeliverEventsDeps, at: WallTime): SteadyTime {
  return steady() + (at - clock());
}

/** Leases as many events as there are free slots, because an event that waits for a slot uses up its lease. */
async function pushBatch(deps: DeliverEventsDeps, walk: Walk, batch: readonly PlacedEvent[]): Promise<void> {
  const { clientId } = walk.owner;
  for (let start = 0; start < batch.length && !isOver(deps, walk);) {
    const slots = [await deps.slots.take(clientId)];
    for (let free; start + slots.length < batch.length && (free = deps.slots.takeFree(clientId));) {
      slots.push(free);
    }
    const wanted = batch.slice(start, start + slots.length);
    start += slots.length;
    try {
      const to = await walk.receiver();
      walk.isRefused = to === undefined;
      if (to === undefined) return;
      const ours = await lease(deps, wanted);
      for (const { resource } of wanted) {
        if (!ours.some((event) => event.resource === resource)) walk.blocked.add(resource);
      }
      await allEnded(ours.map((event) => pushOne(deps, walk, to, event)));
    } finally {
      for (const free of slots) free();
    }
  }
}

/** Leases, in one commit, the events that are still there and due. Another process may have taken some meanwhile. */
async function lease(
  deps: DeliverEventsDeps,
  wanted: readonly PlacedEvent[],
): Promise<readonly PlacedEvent[]> {
  const options = { what: "events to push", attempts: 3, lost: () => [] };
  const ours = await transact<readonly PlacedEvent[]>(deps, options, async (tx) => {
    const found = await Promise.all(wanted.map(({ entry: { key } }) => deps.events.at(tx, key)));
    return found.flatMap((entry, index) => {
      const event = wanted[index];
      const now = deps.clock();
      if (entry === null || event === undefined || pushOf(entry.value).dead) return [];
      if (waitOf(deps, event, entry.value) !== undefined) return [];
      deps.memory.noteDueAt(pushOf(entry.value).dueAt, now);
      const value = leaseEvent(entry.value, now);
      deps.events.stageChange(tx, entry, value);
      return { ...event, entry: { ...entry, value } };
    });
  });
  return ours;
}

async function pushOne(
  deps: DeliverEventsDeps,
  walk: Walk,
  to: EventReceiver,
  event: PlacedEvent,
): Promise<void> {
  walk.pushed++;
  walk.blocked.add(event.resource);
  try {
    if (!isHeldForPush(event.entry.value, deps.clock())) return;
    const [at, began] = [deps.clock(), deps.steady()];
    const token = await signEvent(deps, walk.owner, event);
    const outcome = await pushEvent(deps, to.uri, token, at);
    const milliseconds = deps.steady() - began;
    measurePush(deps, outcome, milliseconds);
    deps.tracePush({ owner: walk.owner, to, event, outcome, at, milliseconds });
    reportPush(deps, to, event, outcome);
    if (outcome.ok) {
      deps.memory.forget(jtiOf(event));
      if (await recordTaken(deps, event)) walk.blocked.delete(event.resource);
    } else {
      walk.againAt = Math.min(walk.againAt, await recordFailed(deps, walk.owner, event, outcome));
    }
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    deps.log.error("event.delivery_failed", { jti: jtiOf(event), error: errorText(error) });
  }
}

/** Returns false if every race was lost. Then the event is pushed again, with the same `jti`. */
async function recordTaken(deps: DeliverEventsDeps, { entry: { key } }: PlacedEvent): Promise<boolean> {
  return await transact(deps, { what: "taken event", lost: () => false }, async (tx) => {
    const entry = await deps.events.at(tx, key);
    if (entry !== null) deps.events.stageDone(tx, entry); // a poll may have acknowledged it
    return true;
  });
}

/** Returns when the event is due again. If it was changed meanwhile, its lease ends by itself. */
async function recordFailed(
  deps: DeliverEventsDeps,
  { clientId, bank }: EventOwner,
  event: PlacedEvent,
  { failure }: Extract<EventPushOutcome, { ok: false }>,
): Promise<number> {
  const jti = jtiOf(event);
  const options = { what: "failed event", lost: () => undefined };
  const failed = await transact(deps, options, async (tx) => {
    const entry = await deps.events.at(tx, event.entry.key);
    if (entry === null || pushOf(entry.value).dueAt !== pushOf(event.entry.value).dueAt) return undefined;
    const mayGiveUp = deps.memory.mayGiveUp(jti);
    const now = deps.clock();
    const changed = afterFailedPush(entry.value, failure, { now, random: deps.random, mayGiveUp });
    deps.events.stageChange(tx, entry, changed);
    return { ...pushOf(changed), waitMs: pushOf(changed).dueAt - now };
  });
  if (failed === undefined) return asSteady(deps, pushOf(event.entry.value).dueAt);
  if (failed.dead) deps.memory.forget(jti);
  else deps.memory.waits({ id: jti, receiver: clientId, failures: failed.failures }, failed.waitMs);
  const facts = { jti, clientId, bank, failures: failed.failures, why: failure.why };
  if (failed.dead) deps.log.error("event.dead", facts);
  else deps.log.warn("event.not_delivered", facts);
  return failed.dead ? Infinity : deps.steady() + failed.waitMs;
}
