/** A payment order on its way to the bank: when it is tried again and when it is given up. No I/O. */
import type { BankCode, PaymentId } from "../../base/kernel/identifiers.ts";
import { isYetToPass } from "../../base/kernel/clock.ts";
import { ORDER_LEASE_SECONDS, ORDER_PUSH_SECONDS, ORDER_RETRY_SECONDS } from "../profile.ts";

/** An order that the bank has not answered yet. */
export interface PaymentOrder {
  readonly paymentId: PaymentId;
  readonly bank: BankCode;
  /** Pushes that failed. */
  readonly failures: number;
  /**
   * Milliseconds, by the steady clock. Whoever pushes it moves this ahead first, so nobody else does so at the same time. Of a dead
   * order: when it was given up. Of a held one: since when.
   */
  readonly dueAt: number;
  /** Given up: an operator looks at it and may have it tried again. */
  readonly dead: boolean;
  /** Why it is kept back, for the operator: the bank must not have orders now. Absent if it may. */
  readonly held?: string;
  /** Why the last push failed, in the platform's words. */
  readonly lastFailure?: string;
  /** What the bank wrote with its last 4xx: bounded, for the operator alone. */
  readonly bankText?: string;
}

/** A push that has not led to an answer. */
export interface PushFailure {
  /**
   * - `unsent`: the bank has no address to push to, or one that may not be called.
   * - `unreachable`: no connection, no answer in time, or a 5xx. The bank itself may be in trouble.
   * - `unclear`: the bank can be reached, but its answer settles nothing (a redirect, no `Status`, "later").
   * - `refused`: a 4xx. The same order would fail in the same way again.
   */
  readonly kind: "unsent" | "unreachable" | "unclear" | "refused";
  /** In the platform's words, without anything from the bank but the status. */
  readonly why: string;
  /** How long the bank wants to be left alone with this order. */
  readonly retryAfterSeconds?: number;
  readonly bankText?: string;
}

const RESUME_WITHIN_MS = 86_400_000;
/** No order is put off for longer (`afterFailure`). */
const LONGEST_WAIT_MS = Math.max(...ORDER_RETRY_SECONDS) * 1250;

/** Whether an order that was to be due at `dueAt` is due at `now`. */
export function isDue(dueAt: number, now: number): boolean {
  return !isYetToPass(dueAt, now, LONGEST_WAIT_MS);
}

/** A fresh order, in the hands of the request that made it. */
export function openOrder(paymentId: PaymentId, bank: BankCode, now: number): PaymentOrder {
  return { paymentId, bank, failures: 0, dueAt: now + ORDER_LEASE_SECONDS * 1000, dead: false };
}

/** The order in somebody's hands: not due for anyone else until the lease is over, even if that one crashes. */
export function leased(order: PaymentOrder, now: number): PaymentOrder {
  return { ...order, dueAt: now + ORDER_LEASE_SECONDS * 1000 };
}

/** Whether a push that begins at `now` ends while the order is still in these hands. */
export function isHeldForPush({ dueAt }: PaymentOrder, now: number): boolean {
  return now + ORDER_PUSH_SECONDS * 1000 <= dueAt;
}

/**
 * The order after a failed push: dead if the bank rejected it, else due again after 1, 2, 4 … 512 s, or later if the bank
 * asked for that (at most 512 s), with up to a quarter more. After the last of these waits it is dead.
 */
export function afterFailure(
  { bankText: _, ...order }: PaymentOrder,
  { kind, why, retryAfterSeconds = 0, bankText }: PushFailure,
  now: number,
  random: () => number,
): PaymentOrder {
  const wait = kind === "refused" ? undefined : ORDER_RETRY_SECONDS[order.failures];
  const failed = {
    ...order,
    failures: order.failures + 1,
    lastFailure: why,
    ...(bankText === undefined ? {} : { bankText }),
  };
  if (wait === undefined) return { ...failed, dead: true, dueAt: now };
  const seconds = Math.max(wait, boundedPauseSeconds(retryAfterSeconds));
  return { ...failed, dueAt: now + Math.round(seconds * 1000 * (1 + random() / 4)) };
}

/** As long as the bank asks for, 512 s at most. */
export function boundedPauseSeconds(retryAfterSeconds: number): number {
  return Math.min(retryAfterSeconds, ORDER_RETRY_SECONDS.at(-1) ?? 0);
}

/** The order put off without counting a failure: its bank is known to be down. */
export function putOff(order: PaymentOrder, until: number): PaymentOrder {
  return { ...order, dueAt: until };
}

/** The order kept back without counting a failure: its bank must not have it now. */
export function heldBack(order: PaymentOrder, why: string, now: number): PaymentOrder {
  return { ...order, held: why, dueAt: now };
}

/**
 * A held order whose bank may have it again. After a day the payer may have paid in another way: then it is given up, and
 * an operator has it tried again if the payer still wants it.
 */
export function resumed({ held: _, ...order }: PaymentOrder, now: number): PaymentOrder {
  return now - order.dueAt <= RESUME_WITHIN_MS
    ? { ...order, dueAt: now }
    : { ...order, dueAt: now, dead: true, lastFailure: "held for more than 24 h" };
}

/** A dead order that an operator wants tried again. */
export function redriven(order: PaymentOrder, now: number): PaymentOrder {
  return { ...order, failures: 0, dueAt: now, dead: false };
}
