/**
 * The shop's orders, in memory: who ordered, what was asked of the bank, and how far the payment has come.
 * Orders are plain data, replaced whole. A restart forgets them, as a sandbox may.
 */
import type { AccessToken, PendingAuthorization } from "../../client/tpp/authorization.ts";
import type { PaymentSeen } from "../../client/tpp/domestic_payments.ts";
import type { MessageLog } from "../../client/tpp/message_log.ts";
import type { PaymentFlow } from "../../client/tpp/payment_journey.ts";
import type { PaymentRequest } from "../../client/tpp/payment_request.ts";
import type { Good } from "./catalogue.ts";

/** How far a payment has come. Only `paid` and `unknown` may have moved money. */
export type OrderState =
  | { readonly phase: "starting" }
  /** The customer was sent to the bank. */
  | {
    readonly phase: "at_bank";
    readonly flow: PaymentFlow;
    readonly consentId: string;
    readonly pending: PendingAuthorization;
  }
  | { readonly phase: "paying" }
  /** The customer came back with an authentic error. */
  | { readonly phase: "refused"; readonly error: string; readonly description: string }
  /** It went wrong before a payment can have been made. */
  | { readonly phase: "failed"; readonly reason: string }
  /** The payment was submitted and no answer could be had. */
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
  /** The browser that ordered; nobody else may see or finish it. */
  readonly session: string;
  readonly good: Good;
  readonly bank: string;
  readonly request: PaymentRequest;
  readonly messages: MessageLog;
  readonly state: OrderState;
}

/** The orders of a running shop. */
export interface OrderBook {
  /** The order, if this browser made it. */
  find(id: string, session: string | undefined): Order | undefined;
  /** The order waiting for this `state`, if this browser made it. */
  findByState(state: string, session: string | undefined): Order | undefined;
  /** Replaces the order's state and returns the new order. */
  moveTo(order: Order, state: OrderState): Order;
}

// A sandbox left running must not fill the memory; the oldest order is forgotten first.
const maxOrders = 100;

/** An empty book. */
export function openOrderBook(): OrderBook {
  const orders = new Map<string, Order>();
  const idsByState = new Map<string, string>();
  const owned = (order: Order | undefined, session: string | undefined): Order | undefined =>
    order !== undefined && order.session === session ? order : undefined;
  return {
    find: (id, session): Order | undefined => owned(orders.get(id), session),
    findByState: (state, session): Order | undefined =>
      owned(orders.get(idsByState.get(state) ?? ""), session),
    moveTo: (order, state): Order => {
      const moved = { ...order, state };
      orders.set(order.id, moved);
      if (state.phase === "at_bank") idsByState.set(state.pending.state, order.id);
      if (orders.size > maxOrders) forgetOldest(orders, idsByState);
      return moved;
    },
  };
}

function forgetOldest(orders: Map<string, Order>, idsByState: Map<string, string>): void {
  const [oldest] = orders.keys();
  if (oldest === undefined) return;
  orders.delete(oldest);
  for (const [state, id] of idsByState) {
    if (id === oldest) idsByState.delete(state);
  }
}
