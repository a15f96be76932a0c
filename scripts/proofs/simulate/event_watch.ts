/**
 * Checks the events of a run: each change of status has its event in its commit, and each event that is pushed is one of
 * these, or a notice that was stored, the same each time, after the earlier ones of its consent or payment. The rules come from the contract (EVT1,
 * EVT11 to EVT14).
 */
import type { Entry, Key, Write } from "../../../src/base/store/store.ts";
import { claimsOf } from "./jwts.ts";

/** An event as its receiver reads it. */
export interface PushedEvent {
  readonly jti: string;
  /** The consent or payment. */
  readonly resource: string;
  readonly status: string;
  /** Of the whole token. */
  readonly claims: string;
}

/** Watches the events of one run. */
export interface EventWatch {
  /** A commit is about to take place. */
  readonly committed: (writes: readonly Write[], before: (key: Key) => unknown) => void;
  /** A push begins. The result is called when it ends, with the status that the platform got, or none. */
  pushed(token: string): (status?: number) => void;
  /** The receiver has stored the event. */
  received(event: PushedEvent): void;
  /** The database was replaced by an older copy, which has these events, acknowledged and not. */
  restored(waiting: readonly Entry<unknown>[], finished: readonly Entry<unknown>[]): void;
  /** Everything has come to its end: compares what was stored with what was received, and with what waits. */
  judge(waiting: readonly Entry<unknown>[], isPushed: (owner: string) => boolean): void;
}

/** An event that was stored in the commit of its change. */
interface Staged {
  readonly jti: string;
  /** Client and bank. */
  readonly owner: string;
  readonly resource: string;
  readonly status: string;
}

type Violated = (check: string, sentence: string) => void;

/** In the order of their commits, by consent or payment. */
type StagedEvents = Map<string, Staged[]>;

/** Contract EVT12. */
const DEAD_AFTER = 11;
const ORDER = "events are pushed in order";
const REACHED = "every change of status reaches its TPP";

/** @param mayOverlap whether two processes may have clocks that differ, so that a lease of one ends early for the other */
export function openEventWatch(violated: Violated, mayOverlap: () => boolean): EventWatch {
  const staged: StagedEvents = new Map();
  const claims = new Map<string, string>();
  const received = new Set<string>();
  /** Also before the database was replaced by a copy in which they wait. */
  const acknowledged = new Set<string>();
  /** Acknowledged, or dead: the next event need not wait for it. */
  const passed = new Set<string>();
  const underWay = new Set<string>();
  /** Of a bank that goes wrong. They are about no consent and no payment, and each may come without the one before. */
  const notices = new Set<string>();
  const rejections = new Map<string, number>();
  return {
    committed(writes, before) {
      checkCommit(violated, staged, writes, before);
      for (const { kind, key } of writes) {
        if (kind === "set" && key[0] === "event_notice") notices.add(jtiAt(key));
      }
      // The process that was told may have been killed, and its commit arrives after the database was replaced.
      for (const jti of finishedIn(writes)) if (acknowledged.has(jti)) passed.add(jti);
      for (const jti of diedIn(writes, before)) {
        passed.add(jti);
        const count = rejections.get(jti) ?? 0;
        if (count < DEAD_AFTER) violated("an event dies of 11 rejections", `${jti} is dead after ${count}`);
      }
    },
    pushed(token) {
      const event = pushedEvent(token);
      if (!notices.has(event.jti)) checkKnown(violated, staged, event);
      checkSame(violated, claims, event);
      const earlier = (staged.get(event.resource) ?? []).map(({ jti }) => jti);
      const waiting = earlier.slice(0, earlier.indexOf(event.jti)).filter((jti) => !passed.has(jti));
      if (waiting.length > 0) violated(ORDER, `${event.jti} was pushed while ${waiting.join()} waited`);
      if (underWay.has(event.resource) && !mayOverlap()) {
        violated(
          "one push of an event at a time",
          `${event.jti} was pushed while another push of it was under way`,
        );
      }
      underWay.add(event.resource);
      return (status) => {
        underWay.delete(event.resource);
        if (status === 202) {
          acknowledged.add(event.jti);
          passed.add(event.jti);
        } else if (status !== undefined && status < 500 && status !== 429) {
          rejections.set(event.jti, (rejections.get(event.jti) ?? 0) + 1);
        }
      };
    },
    received: ({ jti }) => void received.add(jti),
    restored(waiting, finished) {
      for (const known of [staged, claims, passed]) known.clear();
      for (const { key, value } of [...finished, ...waiting]) addTo(staged, eventOf(key, value));
      for (const { key } of [...finished, ...waiting.filter(isDead)]) passed.add(jtiAt(key));
    },
    judge(waiting, isPushed) {
      const kept = new Set(waiting.map(({ key }) => jtiAt(key)));
      for (const { jti, owner, status } of [...staged.values()].flat()) {
        if (!kept.has(jti) && !received.has(jti)) violated(REACHED, `the event ${jti} (${status}) is lost`);
        if (kept.has(jti) && isPushed(owner)) violated(REACHED, `the event ${jti} (${status}) still waits`);
      }
    },
  };
}

/** A crash can come after any commit, so the event must be in the commit of the change. */
function checkCommit(
  violated: Violated,
  staged: StagedEvents,
  writes: readonly Write[],
  before: (key: Key) => unknown,
): void {
  const events = writes.flatMap((write) =>
    write.kind === "set" && write.key[0] === "event" && before(write.key) === undefined
      ? [eventOf(write.key, write.value)]
      : []
  );
  for (const event of events) addTo(staged, event);
  for (const write of writes) {
    if (write.kind !== "set" || (write.key[0] !== "consent" && write.key[0] !== "payment")) continue;
    const { id, status } = write.value as Pick<Staged, "status"> & { readonly id: string };
    const former = (before(write.key) as { readonly status: string } | undefined)?.status;
    if (status === former || (write.key[0] === "consent" && former === undefined)) continue; // a consent begins without
    if (!events.some((event) => event.resource === id && event.status === status)) {
      violated("a change of status has its event", `${id} became ${status} without an event`);
    }
  }
}

/** Returns the events that wait no more from this commit on. */
function finishedIn(writes: readonly Write[]): readonly string[] {
  const deleted = writes.filter(({ kind, key }) => kind === "delete" && key[0] === "event");
  return deleted.map(({ key }) => jtiAt(key));
}

/**
 * Returns the events that this commit makes dead. The platform also logs them, but not if the answer of the commit was
 * lost.
 */
function diedIn(writes: readonly Write[], before: (key: Key) => unknown): readonly string[] {
  return writes.flatMap((write) =>
    write.kind === "set" && write.key[0] === "event" && isDead(write) && !isDead({ value: before(write.key) })
      ? [jtiAt(write.key)]
      : []
  );
}

function checkKnown(violated: Violated, staged: StagedEvents, event: PushedEvent): void {
  const known = staged.get(event.resource)?.find(({ jti }) => jti === event.jti);
  if (known?.status === event.status) return;
  violated("no event is invented", `${event.jti} (${event.status}) was pushed and is no event`);
}

function checkSame(violated: Violated, claims: Map<string, string>, event: PushedEvent): void {
  const before = claims.get(event.jti) ?? event.claims;
  if (before !== event.claims) violated("an event is the same each time", `${before} and ${event.claims}`);
  claims.set(event.jti, before);
}

/** Reads a token as its receiver does. */
export function pushedEvent(token: string): PushedEvent {
  const claims = claimsOf(token);
  const [update, change] = Object.values(claims["events"] as object) as readonly Record<string, unknown>[];
  const subject = update?.["subject"] as Readonly<Record<string, string>>;
  return {
    jti: String(claims["jti"]),
    resource: subject["http://openbanking.org.uk/rid"] ?? "",
    status: String(change?.["status"]),
    claims: JSON.stringify(claims),
  };
}

function eventOf(key: Key, value: unknown): Staged {
  const [client = "", bank = "", , resource = ""] = key.slice(-4);
  const { status } = value as Pick<Staged, "status">;
  return { jti: jtiAt(key), owner: `${client} ${bank}`, resource, status };
}

function jtiAt(key: Key): string {
  const [position, resource] = key.slice(-2);
  return `${Number(position)}-${resource}`;
}

/** Whether an event is pushed no more until an operator asks for it. */
export function isDead({ value }: Pick<Entry<unknown>, "value">): boolean {
  return (value as { readonly push?: { readonly dead: boolean } } | undefined)?.push?.dead === true;
}

function addTo(staged: StagedEvents, event: Staged): void {
  staged.set(event.resource, [...staged.get(event.resource) ?? [], event]);
}
