/** A payment order that is to be delivered to the bank: its states, and the moves between
 * them. No I/O. */
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import { retryAt } from "../../events/delivery/retry_delays.ts";
import { ORDER_LEASE_SECONDS, ORDER_PUSH_SECONDS, ORDER_RETRY_SECONDS } from "../../../base/profile.ts";

/** An order without a response from the bank. */
export type PaymentOrder = QueuedOrder | HeldOrder | DeadOrder;

/** It is or will be due. */
export type QueuedOrder = WaitingOrder | LeasedOrder;

/** It is pushed when it is due. */
export interface WaitingOrder extends Order {
  readonly state: "waiting";
  readonly dueAt: WallTime;
}

/** A worker has it, and may have pushed it. */
export interface LeasedOrder extends Order {
  readonly state: "leased";
  /** When the lease ends, and the order is due for other workers. */
  readonly dueAt: WallTime;
}

/** Its bank must not get it now. */
export interface HeldOrder extends Order {
  readonly state: "held";
  /** For the operator. */
  readonly why: string;
  readonly heldAt: WallTime;
}

/** Its retries have ended. An operator can have it retried, or close it. */
export interface DeadOrder extends Order {
  readonly state: "dead";
  readonly diedAt: WallTime;
}

interface Order {
  readonly paymentId: PaymentId;
  readonly bank: BankCode;
  /** Number of failed pushes. */
  readonly failures: number;
  /**
   * Whether any push may have reached the bank without being rejected, so that the bank may execute the order. Never
   * becomes false again, because a later answer says nothing about an earlier push (Decision O3).
   */
  readonly mayBeAtBank: boolean;
  /** The platform's description of the last failed push. */
  readonly lastFailure?: string;
  /** The body of the bank's last 4xx response. Bounded, and shown to the operator only. */
  readonly bankText?: string;
}

/** A push without a usable response. */
export interface PushFailure {
  /**
   * - `unsent`: the bank has no address to push to, or one that may not be called.
   * - `unreachable`: no connection, no response in time, or a 5xx. The bank itself may have an outage.
   * - `unclear`: the bank was reached, but its response has no result (a redirect, no `Status`, "later").
   * - `refused`: a 4xx. The same order would fail in the same way again.
   */
  readonly kind: "unsent" | "unreachable" | "unclear" | "refused";
  /** The platform's description. It quotes only the status of the response. */
  readonly why: string;
  /** The delay that the bank requests for this order. */
  readonly retryAfterSeconds?: number;
  readonly bankText?: string;
  /** The fault of the bank's response, for the bank. Absent if the order was not sent. */
  readonly answer?: UnusableAnswer;
}

/** A response from which the platform cannot read what the bank does with the order. */
export interface UnusableAnswer {
  /** Absent without a response. */
  readonly status?: number;
  readonly fault: Mismatch;
}

export interface FailureContext {
  readonly now: WallTime;
  readonly random: () => number;
  /** Whether this process has seen all delays pass. */
  readonly mayGiveUp: boolean;
}

const RESUME_WITHIN_MS = 86_400_000;
const HTTP_CONFLICT = 409;

/** Returns a new order, leased by the request that created it. */
export function openOrder(paymentId: PaymentId, bank: BankCode, now: WallTime): LeasedOrder {
  const dueAt = now + ORDER_LEASE_SECONDS * 1000;
  return { state: "leased", paymentId, bank, failures: 0, mayBeAtBank: false, dueAt };
}

/** Whether the order is in the queue: it is or will be due. */
export function isQueued(order: PaymentOrder): order is QueuedOrder {
  return order.state === "waiting" || order.state === "leased";
}

/**
 * Leases the order: it is not due for other workers until the lease ends, even if this one crashes. A lease that has
 * ended without a result is such a crash, which may have been after the push.
 */
export function leaseOrder({ state, ...order }: QueuedOrder, now: WallTime): LeasedOrder {
  const mayBeAtBank = order.mayBeAtBank || state === "leased";
  return { ...order, mayBeAtBank, state: "leased", dueAt: now + ORDER_LEASE_SECONDS * 1000 };
}

/** Identifies a lease by its end, so that no two workers have an order at one time. */
export function isSameLease(found: PaymentOrder, own: LeasedOrder): found is LeasedOrder {
  return found.state === "leased" && found.dueAt === own.dueAt && found.failures === own.failures;
}

/** Whether a push that begins at `now` ends within the lease. Not if the clock was put back since the lease began. */
export function isHeldForPush({ dueAt }: LeasedOrder, now: WallTime): boolean {
  return now + ORDER_PUSH_SECONDS * 1000 <= dueAt && dueAt - now <= ORDER_LEASE_SECONDS * 1000;
}

/**
 * Whether the bank may have taken the order with this push. A 409 can mean that the bank has the order already, for
 * example because a proxy sent it twice.
 */
export function mayHaveTaken({ kind, answer }: PushFailure): boolean {
  return kind === "unreachable" || kind === "unclear" || answer?.status === HTTP_CONFLICT;
}

/**
 * Returns the order after a failed push. It is dead if the bank rejected it. Otherwise it is due again after 1, 2, 4
 * … 512 s, or later if the bank asked for that (at most 512 s), plus up to a quarter more. After the last of these
 * delays it is dead, but not before this process has seen them pass: until then it is due again after 512 s.
 */
export function afterFailure(
  { bankText: _, dueAt: __, ...order }: LeasedOrder,
  failure: PushFailure,
  { now, random, mayGiveUp }: FailureContext,
): WaitingOrder | DeadOrder {
  const { kind, why, retryAfterSeconds = 0, bankText } = failure;
  const delay = mayGiveUp ? order.failures : Math.min(order.failures, ORDER_RETRY_SECONDS.length - 1);
  const dueAt = kind === "refused" ? undefined : retryAt(delay, retryAfterSeconds, now, random);
  const failed = {
    ...order,
    failures: order.failures + 1,
    mayBeAtBank: order.mayBeAtBank || mayHaveTaken(failure),
    lastFailure: why,
    ...(bankText === undefined ? {} : { bankText }),
  };
  return dueAt === undefined
    ? { ...failed, state: "dead", diedAt: now }
    : { ...failed, state: "waiting", dueAt };
}

/** Gives the order up without a push, because the platform no longer has its content. */
export function giveUpOrder({ dueAt: _, ...order }: LeasedOrder, why: string, now: WallTime): DeadOrder {
  return { ...order, state: "dead", diedAt: now, lastFailure: why };
}

/** Postpones the order without a push, because its bank is known to be down. */
export function putOff(order: LeasedOrder, until: WallTime): WaitingOrder {
  return { ...order, state: "waiting", dueAt: until };
}

/** Holds the order without a push, because its bank must not get it now. */
export function heldBack({ dueAt: _, ...order }: LeasedOrder, why: string, now: WallTime): HeldOrder {
  return { ...order, state: "held", why, heldAt: now };
}

/**
 * Resumes a held order whose bank may have it again. After a day the payer may have paid in another way, so the order
 * becomes dead, and an operator can have it retried if the payer still wants it.
 */
export function resumeOrder(
  { why: _, heldAt, ...order }: HeldOrder,
  now: WallTime,
): WaitingOrder | DeadOrder {
  return now - heldAt <= RESUME_WITHIN_MS
    ? { ...order, state: "waiting", dueAt: now }
    : { ...order, state: "dead", diedAt: now, lastFailure: "held for more than 24 h" };
}

/** Retries a dead order at the operator's request. */
export function retryOrder({ diedAt: _, ...order }: DeadOrder, now: WallTime): WaitingOrder {
  return { ...order, state: "waiting", failures: 0, dueAt: now };
}

/** Returns the order in a restored store, which lacks the pushes since the copy was taken. */
export function markRestored<State extends PaymentOrder>(order: State): State {
  return { ...order, mayBeAtBank: true };
}

/** Returns why the order is dead, for its history. */
export function whyDead({ lastFailure = "", mayBeAtBank }: DeadOrder): string {
  return mayBeAtBank ? `${lastFailure}; the bank may have the order` : lastFailure;
}
