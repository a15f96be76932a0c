/**
 * The first half of a purchase: consent and pushed authorization request, after which the customer is redirected to the
 * bank. If a step fails here, no money has moved.
 */
import type { Language } from "../../pages/language.ts";
import { grantClientToken, pushAuthorization } from "../../client/tpp/authorization.ts";
import { createConsent } from "../../client/tpp/domestic_payments.ts";
import { describeFailure } from "../../client/tpp/failure.ts";
import { emptyMessageLog, recordRedirect } from "../../client/tpp/message_log.ts";
import { openFlow } from "../../client/tpp/payment_journey.ts";
import { paymentRequest } from "../../client/tpp/payment_request.ts";
import { type Good, merchant } from "./catalogue.ts";
import { persistently } from "../../client/tpp/persistent.ts";
import type { Order, OrderBook, OrderState } from "./orders.ts";
import type { Tpp } from "../../client/tpp/tpp.ts";

/** The customer's choices. `debtorIban` is absent if the account is chosen later. */
export interface CheckoutCommand {
  readonly session: string;
  readonly good: Good;
  readonly bank: string;
  readonly debtorIban?: string;
  /** The customer's language in the shop. */
  readonly language: Language;
}

/** Dependencies of both halves of a purchase. */
export interface ShopDeps {
  readonly tpp: Tpp;
  readonly orders: OrderBook;
  /** Waits so many milliseconds. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Logs one line for the operator. */
  readonly log: (line: string) => void;
}

/** A customer waits for the bank's page. */
const PATIENCE = { attempts: 3, longestPause: 5000 };

/** Creates an order and prepares its payment. Returns the order in phase `at_bank` or `failed`. */
export async function startCheckout(deps: ShopDeps, command: CheckoutCommand): Promise<Order> {
  const order = deps.orders.moveTo(newOrder(command), { phase: "starting" });
  try {
    return deps.orders.moveTo(order, await prepare(deps, order, command.language));
  } catch (error) {
    const reason = describeFailure(error);
    deps.log(`order ${order.id}: checkout failed: ${reason}`);
    return deps.orders.moveTo(order, { phase: "failed", reason });
  }
}

function newOrder({ session, good, bank, debtorIban }: CheckoutCommand): Order {
  const id = crypto.randomUUID();
  const request = paymentRequest({
    orderId: id,
    description: good.name,
    amount: good.price,
    merchant,
    ...(debtorIban === undefined ? {} : { debtorIban }),
  });
  return { id, session, good, bank, request, messages: emptyMessageLog(), state: { phase: "starting" } };
}

async function prepare({ tpp, pause }: ShopDeps, order: Order, language: Language): Promise<OrderState> {
  const flow = await openFlow(tpp, order.bank, order.messages);
  const again = <T>(call: () => Promise<T>): Promise<T> => persistently(call, { ...PATIENCE, wait: pause });
  const token = await again(() => grantClientToken(flow));
  const key = crypto.randomUUID();
  const { consentId } = await again(() => createConsent(flow, token, order.request, key));
  const pending = await again(() => pushAuthorization(flow, consentId, language));
  recordRedirect(order.messages, tpp.now(), pending.url, "The customer's browser is sent to the platform.");
  return { phase: "at_bank", flow, consentId, pending };
}
