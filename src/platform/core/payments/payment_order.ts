/** A payment order that is to be delivered to the bank: when it is retried and when it becomes dead. No I/O. */
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import { retryAt } from "../../events/delivery/retry_delays.ts";
import { ORDER_LEASE_SECONDS, ORDER_PUSH_SECONDS } from "../../../base/profile.ts";

/** An order without a response from the bank. */
export interface PaymentOrder {
  readonly paymentId: PaymentId;
  readonly bank: BankCode;
  /** Number of failed pushes. */
  readonly failures: number;
  /**
   * Milliseconds, by the steady clock. A worker moves it ahead before it pushes the order, so that no other worker
   * pushes it at the same time. For a dead order: when it became dead. For a held one: since when it is held.
   */
  readonly dueAt: number;
  /** Whether retries have ended. An operator can have it retried. */
  readonly dead: boolean;
  /** Why the order is held, for the operator; absent if it is not held. */
  readonly held?: string;
  /** The platform's description of the last failed push. */
  readonly lastFailure?: string;
  /** Whether the bank rejected the last push with a 4xx, so that it does not have the order. */
  readonly refused?: boolean;
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

const RESUME_WITHIN_MS = 86_400_000;
/** Returns a new order, leased by the request that created it. */
export function openOrder(paymentId: PaymentId, bank: BankCode, now: number): PaymentOrder {
  return { paymentId, bank, failures: 0, dueAt: now + ORDER_LEASE_SECONDS * 1000, dead: false };
}

/** Leases the order: it is not due for other workers until the lease ends, even if this one crashes. */
export function leased(order: PaymentOrder, now: number): PaymentOrder {
  return { ...order, dueAt: now + ORDER_LEASE_SECONDS * 1000 };
}

/** Whether the order is not in the queue: dead or held. */
export function isOut({ dead, held }: PaymentOrder): boolean {
  return dead || held !== undefined;
}

/** Identifies a lease by its end, so that no two workers have an order at one time. */
export function isSameLease(found: PaymentOrder, own: PaymentOrder): boolean {
  return !isOut(found) && found.dueAt === own.dueAt && found.failures === own.failures;
}

/** Whether a push that begins at `now` ends within the lease. */
export function isHeldForPush({ dueAt }: PaymentOrder, now: number): boolean {
  return now + ORDER_PUSH_SECONDS * 1000 <= dueAt;
}

/**
 * Returns the order after a failed push. It is dead if the bank rejected it. Otherwise it is due again after 1, 2, 4
 * … 512 s, or later if the bank asked for that (at most 512 s), plus up to a quarter more. After the last of these
 * delays it is dead.
 */
export function afterFailure(
  { bankText: _, refused: __, ...order }: PaymentOrder,
  { kind, why, retryAfterSeconds = 0, bankText }: PushFailure,
  now: number,
  random: () => number,
): PaymentOrder {
  const dueAt = kind === "refused" ? undefined : retryAt(order.failures, retryAfterSeconds, now, random);
  const failed = {
    ...order,
    failures: order.failures + 1,
    lastFailure: why,
    ...(bankText === undefined ? {} : { bankText }),
  };
  if (kind === "refused") return { ...failed, refused: true, dead: true, dueAt: now };
  return dueAt === undefined ? { ...failed, dead: true, dueAt: now } : { ...failed, dueAt };
}

/** Gives the order up without a push, because the platform no longer has its content. */
export function unsendable(order: PaymentOrder, why: string, now: number): PaymentOrder {
  return { ...order, dead: true, dueAt: now, lastFailure: why };
}

/** Postpones the order without counting a failure, because its bank is known to be down. */
export function putOff(order: PaymentOrder, until: number): PaymentOrder {
  return { ...order, dueAt: until };
}

/** Holds the order without counting a failure, because its bank must not get it now. */
export function heldBack(order: PaymentOrder, why: string, now: number): PaymentOrder {
  return { ...order, held: why, dueAt: now };
}

/**
 * Resumes a held order whose bank may have it again. After a day the payer may have paid in another way, so the order
 * becomes dead, and an operator can have it retried if the payer still wants it.
 */
export function resumed({ held: _, ...order }: PaymentOrder, now: number): PaymentOrder {
  return now - order.dueAt <= RESUME_WITHIN_MS
    ? { ...order, dueAt: now }
    : { ...order, dueAt: now, dead: true, lastFailure: "held for more than 24 h" };
}

/** Retries a dead order at the operator's request. */
export function redriven({ refused: _, ...order }: PaymentOrder, now: number): PaymentOrder {
  return { ...order, failures: 0, dueAt: now, dead: false };
}
