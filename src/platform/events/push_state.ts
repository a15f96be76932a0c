/** When an event is pushed, again, or no more (contract EVT12). No I/O. */
import type { WallTime } from "../../base/kernel/clock.ts";
import { isDue, retryAt } from "./delivery/retry_delays.ts";
import { ORDER_LEASE_SECONDS, ORDER_PUSH_SECONDS, ORDER_RETRY_SECONDS } from "../../base/profile.ts";
import type { PushState, StoredEvent } from "./event.ts";

/** A push that the receiver has not acknowledged. */
export interface EventPushFailure {
  /**
   * - `unreachable`: no connection, no complete response in time, or a 5xx. The receiver may have an outage.
   * - `busy`: 429 with `Retry-After`. The receiver was reached and asks for the event later.
   * - `rejected`: any other response than 202. The receiver was reached.
   */
  readonly kind: "unreachable" | "busy" | "rejected";
  /** The platform's description: the status of the response and an error code of RFC 8935 §2.4. */
  readonly why: string;
  /** The delay that the receiver requests. */
  readonly retryAfterSeconds?: number;
}

const NEW: PushState = { failures: 0, rejections: 0, dueAt: 0, dead: false };

/** Returns the state of an event's pushes, also before the first one. */
export function pushOf({ push = NEW }: StoredEvent): PushState {
  return push;
}

/** Whether a push may begin at `now`. */
export function mayBePushed(event: StoredEvent, now: WallTime): boolean {
  const { dead, dueAt } = pushOf(event);
  return !dead && isDue(dueAt, now);
}

/** Leases the event: no other process pushes it until the lease ends, also if this one stops. */
export function leaseEvent(event: StoredEvent, now: WallTime): StoredEvent {
  return { ...event, push: { ...pushOf(event), isLeased: true, dueAt: now + ORDER_LEASE_SECONDS * 1000 } };
}

/** Whether a push that begins at `now` ends within the lease. Not if the clock was put back since the lease began. */
export function isHeldForPush(event: StoredEvent, now: WallTime): boolean {
  const { dueAt } = pushOf(event);
  return now + ORDER_PUSH_SECONDS * 1000 <= dueAt && dueAt - now <= ORDER_LEASE_SECONDS * 1000;
}

/**
 * Returns the event after a failed push. It is due again after 1, 2, 4 … 512 s, and then every 512 s, so that a receiver
 * catches up, however long it was away. After one rejection more than there are delays it is dead, but not before this process
 * has seen these delays pass.
 */
export function afterFailedPush(
  event: StoredEvent,
  { kind, why, retryAfterSeconds = 0 }: EventPushFailure,
  { now, random, mayGiveUp }: {
    readonly now: WallTime;
    readonly random: () => number;
    readonly mayGiveUp: boolean;
  },
): StoredEvent {
  const { failures, rejections: former } = pushOf(event);
  const rejections = kind === "rejected" ? former + 1 : former;
  const dead = mayGiveUp && rejections > ORDER_RETRY_SECONDS.length;
  const delay = Math.min(failures, ORDER_RETRY_SECONDS.length - 1);
  const dueAt = dead ? now : retryAt(delay, retryAfterSeconds, now, random) ?? now;
  return { ...event, push: { failures: failures + 1, rejections, why, dueAt, dead } };
}

/** Returns the event with all pushes ahead and due at once. */
export function withoutPush({ push: _, ...event }: StoredEvent): StoredEvent {
  return event;
}
