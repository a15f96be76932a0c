/**
 * Lets events wait again: those of a time, for their TPP (contract EVT15), or those that are dead, for an operator. Each
 * keeps its place, so its `jti` is the same. What happens twice has the effect of once.
 */
import { type RequestState, transact, type TransactDeps, transactFor } from "../../base/store/transaction.ts";
import type { Entry } from "../../base/store/store.ts";
import { stageControlEvent } from "../guards/security/controls_store.ts";
import type { EventPlace, StoredEvent } from "./event.ts";
import type { EventOwner, EventStore, FinishedPlace, PlacedEvent } from "./event_store.ts";
import { pushOf, withoutPush } from "./push_state.ts";

export interface ReplayDeps extends TransactDeps {
  readonly events: EventStore;
}

export interface ReplayEvents extends RequestState {
  readonly owner: EventOwner;
  /** Milliseconds. Both ends are included. */
  readonly from: number;
  readonly to: number;
}

export interface Replayed {
  readonly replayed: number;
  /** Where the events begin that were too many for this replay, milliseconds. */
  readonly next?: number;
}

/** Events of one replay. */
export const MAX_REPLAYED = 500;
/** Of one moment, which a replay that begins with it takes at once, because the next one begins with a later time. */
const MAX_OF_MOMENT = 5000;
/** Each event is a version check, of which Deno KV takes 100 in a commit. Replay records are checks too. */
const BATCH = 90;

/** Lets the owner's acknowledged and dead events of a time wait again, the oldest first. */
export async function replayEvents(
  deps: ReplayDeps,
  { owner, from, to, ...request }: ReplayEvents,
): Promise<Replayed> {
  const [finished, { dead, end }] = await Promise.all([
    deps.events.finished(owner, from, to, MAX_REPLAYED + 1),
    listDead(deps.events, owner, { from, to }),
  ]);
  const all = [...finished, ...dead].sort((one, other) => one.position - other.position);
  const isCrowded = all.at(MAX_REPLAYED)?.position === from; // such as after a restore, which voids all consents at once
  const some = isCrowded
    ? [...await deps.events.finished(owner, from, from, MAX_OF_MOMENT), ...dead.filter(isOf(from))]
    : all.slice(0, MAX_REPLAYED);
  for (let start = 0; start < some.length; start += BATCH) {
    await letWait(deps, owner, some.slice(start, start + BATCH), start === 0 ? request : undefined);
  }
  const behind = isCrowded && dead.length <= MAX_REPLAYED ? from + 1 : all.at(MAX_REPLAYED)?.position;
  const next = Math.min(behind ?? Infinity, end);
  return { replayed: some.length, ...(next > to ? {} : { next }) };
}

function isOf(moment: number): (event: EventPlace) => boolean {
  return ({ position }) => position === moment;
}

/** Lets the owner's first dead events be pushed again, and notes who has asked for it. Returns how many. */
export async function redriveEvents(deps: ReplayDeps, owner: EventOwner, operator: string): Promise<number> {
  const dead = (await listDead(deps.events, owner)).dead.slice(0, MAX_REPLAYED);
  await transact(deps, { what: "redriven events" }, async (tx) => {
    const reason = `${dead.length} events of ${owner.bank}`;
    const note = { at: deps.clock(), event: "events.redriven", actor: operator, reason };
    await stageControlEvent(tx, `software ${owner.clientId}`, note); // a client numbers its own entries
  });
  for (let start = 0; start < dead.length; start += BATCH) {
    await letWait(deps, owner, dead.slice(start, start + BATCH), undefined);
  }
  return dead.length;
}

const PAGE = 500;
const MAX_PAGES = 20;

/** Returns the owner's first dead events of a time, and where the search has ended if there may be more. */
async function listDead(
  events: EventStore,
  owner: EventOwner,
  { from = 0, to = Infinity }: { readonly from?: number; readonly to?: number } = {},
): Promise<{ readonly dead: readonly PlacedEvent[]; readonly end: number }> {
  const dead: PlacedEvent[] = [];
  let last: EventPlace = { position: from, resource: "" };
  for (let pages = 0; pages < MAX_PAGES && dead.length <= MAX_REPLAYED; pages++) {
    const page = await events.waiting(owner, PAGE, last);
    dead.push(...page.filter((event) => event.position <= to && isDead(event)));
    last = page.at(-1) ?? last;
    if (page.length < PAGE || last.position > to) return { dead, end: Infinity };
  }
  return { dead, end: last.position };
}

function isDead({ entry: { value } }: PlacedEvent): boolean {
  return pushOf(value).dead;
}

async function letWait(
  deps: ReplayDeps,
  owner: EventOwner,
  some: readonly (FinishedPlace | PlacedEvent)[],
  request: RequestState | undefined,
): Promise<void> {
  await transactFor(deps, request, { what: "replay" }, async (tx) => {
    const found: readonly (Entry<StoredEvent> | null)[] = await Promise.all(
      some.map((event) => deps.events.find(tx, owner, event)),
    );
    for (const [index, event] of some.entries()) {
      const entry = found[index] ?? null;
      if (entry === null && "value" in event) deps.events.stageAgain(tx, owner, event);
      else if (entry !== null && pushOf(entry.value).dead) {
        deps.events.stageChange(tx, entry, withoutPush(entry.value));
      }
    }
    tx.onCommit.push(() => deps.events.wake(owner));
  });
}
