/**
 * The second half of a purchase: exchanges the code for a token and pays with it. Submits a payment at most once per
 * order, and reports that no money moved only if that is certain.
 */
import * as oauth from "oauth4webapi";
import { ApiErrorResponse } from "../../client/party/api_error.ts";
import {
  type AccessToken,
  checkCallback,
  type CheckedCallback,
  exchangeCode,
  grantClientToken,
} from "../../client/tpp/authorization.ts";
import { createPayment, type PaymentSeen, readPayment } from "../../client/tpp/domestic_payments.ts";
import { describeFailure } from "../../client/tpp/failure.ts";
import { recordRedirect } from "../../client/tpp/message_log.ts";
import type { PaymentFlow } from "../../client/tpp/payment_journey.ts";
import { failedReturn } from "../../client/tpp/take_payment.ts";
import type { ShopDeps } from "./checkout.ts";
import type { Order, OrderState } from "./orders.ts";

type AtBank = Extract<OrderState, { phase: "at_bank" }>;

/**
 * Finishes the order that a return belongs to. An order that is not waiting is returned unchanged.
 * @throws {Error} if the return is not for this order; the order is then unchanged
 */
export async function finishCheckout(deps: ShopDeps, order: Order, callback: URL): Promise<Order> {
  const { state } = order;
  if (state.phase !== "at_bank") return order;
  let checked: CheckedCallback;
  try {
    checked = checkCallback(state.flow, state.pending, callback);
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw error;
    recordRedirect(order.messages, deps.tpp.now(), callback.href, "The customer came back with an error.");
    return deps.orders.moveTo(order, { phase: "refused", ...failedReturn(error) });
  }
  recordRedirect(order.messages, deps.tpp.now(), callback.href, "The customer came back with a code.");
  // No await since the phase was read, so only one of two concurrent returns gets here.
  const claimed = deps.orders.moveTo(order, { phase: "paying" });
  return deps.orders.moveTo(claimed, await pay(deps, claimed, state, checked));
}

/** The order with the platform's current payment status, or with the last known one if it cannot be read. */
export async function refreshPayment(deps: ShopDeps, order: Order): Promise<Order> {
  const { state } = order;
  if (state.phase !== "paid") return order;
  try {
    const token = await usableToken(state.flow, state.token);
    const payment = await readPayment(state.flow, token, state.payment.paymentId);
    const now = deps.orders.find(order.id, order.session);
    if (now?.state !== state) return now ?? order; // an event that came meanwhile may be newer
    return deps.orders.moveTo(order, { ...state, token, payment });
  } catch (error) {
    deps.log(`order ${order.id}: status not read: ${describeFailure(error)}`);
    return order;
  }
}

async function pay(deps: ShopDeps, order: Order, at: AtBank, checked: CheckedCallback): Promise<OrderState> {
  const { flow, consentId, pending } = at;
  let token: AccessToken;
  try {
    token = await exchangeCode(flow, pending, checked);
  } catch (error) {
    deps.log(`order ${order.id}: code not exchanged: ${describeFailure(error)}`);
    return { phase: "failed", reason: describeFailure(error) };
  }
  const command = { consentId, ...order.request };
  const outcome = await submit(deps, order, (key) => createPayment(flow, token, command, key));
  return "phase" in outcome ? outcome : { phase: "paid", flow, token, payment: outcome };
}

/** If the platform asks for more patience, the customer is told that the payment is unknown. */
const MAX_PAUSE_MILLISECONDS = 10_000;

/**
 * Repeats a submission with unknown result under the same idempotency key, so that it is executed once (Decision C4).
 */
async function submit(
  deps: ShopDeps,
  order: Order,
  post: (idempotencyKey: string) => Promise<PaymentSeen>,
): Promise<PaymentSeen | Extract<OrderState, { phase: "failed" | "unknown" }>> {
  const key = crypto.randomUUID();
  let reason = "";
  let pause = 0;
  for (const usual of [1000, 2000, undefined]) { // OBIE: at least a second before a duplicate
    await deps.pause(pause);
    try {
      return await post(key);
    } catch (error) {
      const first = reason === "";
      reason = describeFailure(error);
      deps.log(`order ${order.id}: payment not confirmed: ${reason}`);
      if (first && isCertainRejection(error)) return { phase: "failed", reason };
      const asked = error instanceof ApiErrorResponse ? (error.retryAfter ?? 0) * 1000 : 0;
      pause = Math.max(usual ?? 0, asked);
      if (pause > MAX_PAUSE_MILLISECONDS) break;
    }
  }
  return { phase: "unknown", reason };
}

/** 409 and 429 mean "try later". After a 5xx, a lost response or an invalid response the payment's state is unknown. */
function isCertainRejection(error: unknown): boolean {
  return error instanceof ApiErrorResponse && error.status >= 400 && error.status < 500 &&
    error.status !== 409 && error.status !== 429;
}

async function usableToken(flow: PaymentFlow, token: AccessToken): Promise<AccessToken> {
  const marginMilliseconds = 30_000;
  return token.expiresAt - marginMilliseconds > flow.tpp.now() ? token : await grantClientToken(flow);
}
