/** The state of a bank as everyone sees it, and when TPPs are told of it (contract BH1 to BH3). No I/O. */
import { MAX_PROCESS_SKEW_MS, type WallTime } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { failingSince, judge, type LastPush, PUSHES_KEPT_MS } from "../../observed/figures/last_pushes.ts";

/** What comes later in the list is worse. In a planned outage the bank's pushes are not judged. */
export const HEALTH_STATES = ["available", "degraded", "down", "planned_outage"] as const;
export type HealthState = typeof HEALTH_STATES[number];

export interface BankHealth {
  readonly bank: BankCode;
  /** A UUID that names the bank in the notices, whose order it keeps. */
  readonly id: string;
  readonly state: HealthState;
  /** When the state began; of a bank that is down, when the first of its failures in a row was. Milliseconds. */
  readonly since: WallTime;
  /** When a process saw that, milliseconds. */
  readonly seenAt: WallTime;
  /** The state of which TPPs were told last, and when, milliseconds. */
  readonly told: HealthState;
  readonly toldAt: WallTime;
}

/** What a process knows about a bank now. */
export interface Signs {
  /** Of all processes, oldest first. */
  readonly pushes: readonly LastPush[];
  readonly isInOutage: boolean;
  /** Whether an operator holds its orders. */
  readonly isHeld: boolean;
}

/** A bank counts as down after so many failures in a row, from the first one on. */
const FAILURES = 5;
/** Between notices, except that of a recovery. */
const QUIET_MS = 5 * 60_000;

/** Returns the health of a bank of which nothing is stored. */
export function healthy(bank: BankCode): BankHealth {
  const id = crypto.randomUUID();
  return { bank, id, state: "available", since: 0, seenAt: 0, told: "available", toldAt: 0 };
}

/** Returns the bank's health at `now`, the same object if it has not changed. */
export function applySigns(health: BankHealth, signs: Signs, now: WallTime): BankHealth {
  const state = stateOf(health, signs, now);
  if (state === health.state) return health;
  const since = state === "down" ? failingSince(signs.pushes, FAILURES) ?? now : now;
  return { ...health, state, since, seenAt: now };
}

/**
 * Returns the health after its TPPs are told, or undefined if they know the state or are told later: a recovery at once,
 * anything else five minutes after the last notice. So there are at most two notices in five minutes, and the second one of
 * them is a recovery.
 */
export function told(health: BankHealth, now: WallTime): BankHealth | undefined {
  const { state, toldAt } = health;
  if (state === health.told || (state !== "available" && now < toldAt + QUIET_MS)) return undefined;
  return { ...health, told: state, toldAt: Math.max(now, toldAt + 1) };
}

function stateOf(health: BankHealth, { pushes, isInOutage, isHeld }: Signs, now: WallTime): HealthState {
  if (isInOutage) return "planned_outage";
  const judged = byPushes(health, pushes, now);
  return judged === "available" && isHeld ? "degraded" : judged;
}

function byPushes(health: BankHealth, pushes: readonly LastPush[], now: WallTime): HealthState {
  if (isStillDown(health, pushes, now)) return "down";
  const state = failingSince(pushes, FAILURES) === undefined
    ? (judge(pushes) === "works" ? "available" : "degraded")
    : "down";
  if (health.state === "planned_outage" || rank(state) <= rank(health.state)) return state;
  // Nothing gets worse by pushes that are older than the present state: another process has seen them too.
  const isNew = (pushes.at(-1)?.at ?? 0) >= health.seenAt - MAX_PROCESS_SKEW_MS;
  return isNew ? state : health.state;
}

/** A bank that is down stays so until it answers, or until nothing was pushed to it for 15 minutes. */
function isStillDown(
  { state, since, seenAt }: BankHealth,
  pushes: readonly LastPush[],
  now: WallTime,
): boolean {
  if (state !== "down") return false;
  const last = Math.max(seenAt, pushes.at(-1)?.at ?? 0);
  const isAnswered = pushes.some((push) => push.isAnswered && push.at > since);
  return !isAnswered && now < last + PUSHES_KEPT_MS;
}

function rank(state: HealthState): number {
  return HEALTH_STATES.indexOf(state);
}
