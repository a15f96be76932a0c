/**
 * What this process remembers of messages that it has failed to deliver. The time at which a message is due stands in the
 * store and may be of a process with a wrong clock. So each process keeps the delays between its own pushes, and gives a
 * message up only if it has seen them pass (Decision D4). Lost with the process: then a message is given up later.
 */
import type { SteadyClock, SteadyTime, WallTime } from "../../../base/kernel/clock.ts";
import { ORDER_RETRY_SECONDS } from "../../../base/profile.ts";
import { latestDueAt } from "./retry_delays.ts";

export interface PushMemory {
  /**
   * Returns until when this process leaves the message alone, or undefined if it may push it. @param failures as stored:
   * fewer than this process has seen if an operator has it retried
   */
  waitsUntil(id: string, failures: number): SteadyTime | undefined;
  /** Whether this process's own wait for the message is over, whatever the stored time says: its clock was put back. */
  hasWaited(id: string, failures: number): boolean;
  /** Returns the messages of a receiver that this process has waited for. */
  waitedFor(receiver: string): readonly string[];
  /** Returns the receivers of the messages that this process has waited for. */
  receiversWaitedFor(): ReadonlySet<string>;
  /** Notes a message that this process has failed to push, or has put off. @param message with its failures as stored now */
  waits(
    message: { readonly id: string; readonly receiver: string; readonly failures: number },
    waitMs: number,
  ): void;
  /** Whether all delays have passed since this process first failed to deliver the message. */
  mayGiveUp(id: string): boolean;
  /** The message is delivered, given up or held. */
  forget(id: string): void;
  /** Reports a message that is due later than any delay allows: a clock is or was wrong. Once a minute at most. */
  noteDueAt(dueAt: WallTime, now: WallTime): void;
}

interface Known {
  readonly receiver: string;
  readonly since: SteadyTime;
  readonly until: SteadyTime;
  readonly failures: number;
}

const ALL_DELAYS_MS = ORDER_RETRY_SECONDS.reduce((sum, seconds) => sum + seconds) * 1000;
/** Messages that one process remembers. Of more, the one that failed longest ago is forgotten. */
const MAX_KNOWN = 100_000;
const ALARM_EVERY_MS = 60_000;

/** @param ahead called with the seconds by which a stored time is ahead of this process's clock */
export function openPushMemory(steady: SteadyClock, ahead: (seconds: number) => void): PushMemory {
  const known = new Map<string, Known>();
  let alarmAt = -Infinity;
  const waited = (): readonly (readonly [string, Known])[] => {
    const now = steady();
    return [...known].filter(([, { until }]) => now >= until);
  };
  return {
    waitsUntil(id, failures) {
      const found = known.get(id);
      if (found === undefined || failures < found.failures || steady() >= found.until) return undefined;
      return found.until;
    },
    hasWaited(id, failures) {
      const found = known.get(id);
      return found !== undefined && failures === found.failures && steady() >= found.until;
    },
    waitedFor: (receiver) => waited().filter(([, one]) => one.receiver === receiver).map(([id]) => id),
    receiversWaitedFor: () => new Set(waited().map(([, { receiver }]) => receiver)),
    waits({ id, receiver, failures }, waitMs) {
      const now = steady();
      const since = failures <= 1 ? now : known.get(id)?.since ?? now;
      known.delete(id); // moves it to the end
      known.set(id, { receiver, since, until: now + waitMs, failures });
      const [oldest] = known.keys();
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    },
    mayGiveUp(id) {
      const found = known.get(id);
      return found !== undefined && steady() - found.since >= ALL_DELAYS_MS;
    },
    forget: (id) => void known.delete(id),
    noteDueAt(dueAt, now) {
      if (dueAt <= latestDueAt(now) || steady() < alarmAt) return;
      alarmAt = steady() + ALARM_EVERY_MS;
      ahead(Math.ceil((dueAt - now) / 1000));
    },
  };
}
