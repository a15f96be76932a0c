/** One run's state: its time, its randomness, its database, what was seen to be wrong, and the trace of what happened. */
import { type Random, seeded } from "../prove/random.ts";
import { type Database, openDatabase } from "./database.ts";
import type { FaultPlan, Plan } from "./plan.ts";
import { START } from "./parties.ts";
import { openScheduler, type Scheduler } from "./scheduler.ts";
import { type EventWatch, openEventWatch } from "./event_watch.ts";
import { openWatch, type Watch } from "./watch.ts";

/** Something that must not be. */
export interface Violation {
  /** The check that it breaks; a shrunk run must break the same one. */
  readonly check: string;
  readonly sentence: string;
}

/** An access token. */
export interface Token {
  readonly value: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  /** Its end may have been set by a clock that was wrong. An end that is too far away is rejected as well. */
  readonly mayEndEarly: boolean;
}

/** A run. */
export interface Simulation {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly database: Database;
  /** The data key store. A restore of the database leaves it as it is. */
  readonly dataKeys: Database;
  readonly watch: Watch;
  readonly events: EventWatch;
  readonly violations: Violation[];
  /** One line for each event. Empty unless the run is traced. */
  readonly trace: string[];
  /** A hash over every line of the trace. */
  hash(): string;
  /** The stream of randomness of one purpose: another purpose's use does not move it. */
  random(purpose: string): Random;
  note(line: string): void;
  violated(check: string, sentence: string): void;
  /** The fault of a kind, or undefined where the run has none or has healed. */
  fault<K extends FaultPlan["kind"]>(kind: K): Extract<FaultPlan, { kind: K }> | undefined;
  /** From here on there are no faults: what is left undone must come to its end. */
  heal(): void;
  isHealed(): boolean;
  /** Whether a process has a clock that is off, or had one a moment ago. */
  isClockWrong(): boolean;
  /** Whether two processes may have clocks that differ: the steady clock of one that was put ahead stays ahead. */
  clocksDiffer(): boolean;
  /** True time since the beginning, milliseconds. */
  passed(): number;
  /** The name of the next request of a party. */
  nextRequest(): string;
  /** When a party has sent its last request. */
  lastRequestAt(): number;
  /** Whether the database was replaced by an older copy: what parties were told after it was taken may be lost. */
  wasRestored: boolean;
  /** Whether a request to the directory was not answered. */
  missedDirectory: boolean;
  /** Paths of requests that an attacker sent as well. */
  readonly forgedPaths: Set<string>;
  /** Orders that a living process is pushing at this moment. */
  readonly pushing: Set<string>;
  /** Tokens of participants by owner and bank. */
  readonly tokens: Map<string, Promise<Token>>;
  /** Runs when an order has been written to the outbox: workers need not look before. */
  readonly onOrder: Set<() => void>;
  /** Runs when an event of a TPP that takes pushes may have been stored. */
  readonly onEvent: Set<() => void>;
}

/** A clock is wrong for this long. */
export const CLOCK_FAULT_MS = 60_000;
/** Records dated by a wrong clock may be rejected for this much longer. */
const CLOCK_ECHO_MS = 150_000;

/** A run that has not begun. */
export function openSimulation(plan: Plan, isTraced: boolean): Simulation {
  const streams = new Map<string, Random>();
  const state = { hash: 0x811c9dc5, healed: false, requests: 0, lastRequestAt: START };
  const violations: Violation[] = [];
  const trace: string[] = [];
  const violated = (check: string, sentence: string): void => void violations.push({ check, sentence });
  const scheduler = openScheduler(START);
  const clockFault = plan.faults.find((fault) => fault.kind === "clock");
  const watch = openWatch(
    violated,
    clockFault !== undefined && plan.faults.some(({ kind }) => kind === "second process"),
  );
  const passed = (): number => scheduler.now() - START;
  const sinceClockFault = (): number => clockFault === undefined ? -1 : passed() - clockFault.after;
  const isClockWrong = (): boolean =>
    sinceClockFault() >= 0 && sinceClockFault() < CLOCK_FAULT_MS + CLOCK_ECHO_MS;
  const clocksDiffer = (): boolean => isClockWrong() || sinceClockFault() >= 0 && (clockFault?.by ?? 0) > 0;
  const events = openEventWatch(violated, clocksDiffer);
  const note = (line: string): void => {
    const timed = `${((scheduler.now() - START) / 1000).toFixed(3).padStart(12)} ${line}`;
    state.hash = fnv(state.hash, timed);
    if (isTraced) trace.push(timed);
  };
  return {
    plan,
    scheduler,
    watch,
    events,
    violations,
    trace,
    note,
    violated,
    database: openDatabase((writes, before) => {
      watch.committed(writes, before);
      events.committed(writes, before);
    }),
    dataKeys: openDatabase(),
    hash: () => (state.hash >>> 0).toString(16).padStart(8, "0"),
    random(purpose) {
      const known = streams.get(purpose) ?? seeded(plan.seed, purpose);
      streams.set(purpose, known);
      return known;
    },
    fault: <K extends FaultPlan["kind"]>(kind: K) =>
      state.healed
        ? undefined
        : plan.faults.find((fault): fault is Extract<FaultPlan, { kind: K }> => fault.kind === kind),
    heal: () => void (state.healed = true),
    isHealed: () => state.healed,
    isClockWrong,
    clocksDiffer,
    passed,
    nextRequest() {
      state.lastRequestAt = scheduler.now();
      return `r${++state.requests}`;
    },
    lastRequestAt: () => state.lastRequestAt,
    wasRestored: false,
    missedDirectory: false,
    forgedPaths: new Set(),
    pushing: new Set(),
    tokens: new Map(),
    onOrder: new Set(),
    onEvent: new Set(),
  };
}

/** FNV-1a. */
function fnv(hash: number, text: string): number {
  let result = hash;
  for (let index = 0; index < text.length; index++) {
    result = Math.imul(result ^ text.charCodeAt(index), 0x01000193);
  }
  return result;
}
