/** A payment order on its way to the bank: when it is tried again and when it is given up. No I/O. */
import type { BankCode, PaymentId } from "../kernel/identifiers.ts";
import { ORDER_LEASE_SECONDS, ORDER_PUSH_SECONDS, ORDER_RETRY_SECONDS } from "../profile.ts";

/** An order that the bank has not answered yet. */
export interface PaymentOrder {
  readonly paymentId: PaymentId;
  readonly bank: BankCode;
  /** Pushes that failed. */
  readonly failures: number;
  /**
   * Milliseconds. Whoever pushes it moves this ahead first, so nobody else does so at the same time. Of a dead
   * order: when it was given up.
   */
  readonly dueAt: number;
  /** Given up: an operator looks at it and may have it tried again. */
  readonly dead: boolean;
  /** Why the last push failed. */
  readonly lastFailure?: string;
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

/** The order after a failed push: due again after 1, 2, 4 … 512 s with up to a quarter more, or dead. */
export function afterFailure(
  order: PaymentOrder,
  why: string,
  now: number,
  random: () => number,
): PaymentOrder {
  const wait = ORDER_RETRY_SECONDS[order.failures];
  const failures = order.failures + 1;
  if (wait === undefined) return { ...order, failures, lastFailure: why, dead: true, dueAt: now };
  return { ...order, failures, lastFailure: why, dueAt: now + Math.round(wait * 1000 * (1 + random() / 4)) };
}

/** The order put off without counting a failure: its bank is known to be down. */
export function putOff(order: PaymentOrder, until: number): PaymentOrder {
  return { ...order, dueAt: until };
}

/** A dead order that an operator wants tried again. */
export function redriven(order: PaymentOrder, now: number): PaymentOrder {
  return { ...order, failures: 0, dueAt: now, dead: false };
}
