/**
 * The shop's orders, in memory: the browser that ordered, the authorization, and the progress of the payment. Orders
 * are immutable and replaced as a whole. A restart deletes them, which is acceptable in a sandbox.
 */
import type { AccessToken, PendingAuthorization } from "../../client/tpp/authorization.ts";
import type { PaymentSeen } from "../../client/tpp/domestic_payments.ts";
import type { MessageLog } from "../../client/tpp/message_log.ts";
import type { PaymentFlow } from "../../client/tpp/payment_journey.ts";
import type { PaymentRequest } from "../../client/tpp/payment_request.ts";
import type { FailedReturn } from "../../client/tpp/take_payment.ts";
import type { Good } from "./catalogue.ts";

/** The end of a consent whose customer has not returned. */
export type Decided = "approved" | "denied" | "denied_late";

/** The progress of a payment. Money may have moved only in phases `paid` and `unknown`. */
export type OrderState =
  | { readonly phase: "starting" }
  /** The customer was sent to the bank. */
  | {
    readonly phase: "at_bank";
    readonly flow: PaymentFlow;
    readonly consentId: string;
    readonly pending: PendingAuthorization;
    /** The consent's status according to an event, if one came before the customer returned. */
    readonly decided?: Decided;
  }
  | { readonly phase: "paying" }
  /** The customer returned with an authentic error. */
  | ({ readonly phase: "refused" } & FailedReturn)
  /** A step failed before a payment could have been made. */
  | { readonly phase: "failed"; readonly reason: string }
  /** The payment was submitted, but no response was received. */
  | { readonly phase: "unknown"; readonly reason: string }
  | {
    readonly phase: "paid";
    readonly flow: PaymentFlow;
    readonly token: AccessToken;
    readonly payment: PaymentSeen;
  };

/** One purchase. */
export interface Order {
  readonly id: string;
  /** The session of the browser that ordered. Only this session may see or finish the order. */
  readonly session: string;
  readonly good: Good;
  readonly bank: string;
  readonly request: PaymentRequest;
  readonly messages: MessageLog;
  readonly state: OrderState;
}

/** The orders of a running shop. */
export interface OrderBook {
  /** The order, if this session created it. */
  find(id: string, session: string | undefined): Order | undefined;
  /** The orders that this session created, newest first. */
  of(session: string): readonly Order[];
  /** The order waiting for this `state`, if this session created it. */
  findByState(state: string, session: string | undefined): Order | undefined;
  /** The order of this consent, of any session. For the platform's events. */
  findByConsent(consentId: string): Order | undefined;
  /** Replaces the order's state and returns the new order. */
  moveTo(order: Order, state: OrderState): Order;
}

// Limits memory: the oldest order is deleted first.
const maxOrders = 100;

export function openOrderBook(): OrderBook {
  const orders = new Map<string, Order>();
  const idsByState = new Map<string, string>();
  const idsByConsent = new Map<string, string>();
  const owned = (order: Order | undefined, session: string | undefined): Order | undefined =>
    order !== undefined && order.session === session ? order : undefined;
  return {
    find: (id, session): Order | undefined => owned(orders.get(id), session),
    of: (session) => [...orders.values()].filter((order) => order.session === session).reverse(),
    findByState: (state, session): Order | undefined =>
      owned(orders.get(idsByState.get(state) ?? ""), session),
    findByConsent: (consentId): Order | undefined => orders.get(idsByConsent.get(consentId) ?? ""),
    moveTo: (order, state): Order => {
      const moved = { ...order, state };
      orders.set(order.id, moved);
      if (state.phase === "at_bank") {
        idsByState.set(state.pending.state, order.id);
        idsByConsent.set(state.consentId, order.id);
      }
      if (orders.size > maxOrders) forgetOldest(orders, [idsByState, idsByConsent]);
      return moved;
    },
  };
}

function forgetOldest(orders: Map<string, Order>, indexes: readonly Map<string, string>[]): void {
  const [oldest] = orders.keys();
  if (oldest === undefined) return;
  orders.delete(oldest);
  for (const index of indexes) {
    for (const [name, id] of index) if (id === oldest) index.delete(name);
  }
}
