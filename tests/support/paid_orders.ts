/**
 * A shop's orders of bank A's customers, paid through a platform that moves or is lost. The shop repeats what has no
 * answer, as the TPP guide says, until each order has a payment.
 */
import { decodeJwt } from "jose";
import { paymentIdOf } from "../../src/base/kernel/identifiers.ts";
import { authorised } from "testing/authorization_flow.ts";
import type { Payment, PaymentOrder } from "testing/answers.ts";
import { call, clientToken, consentBody, type FlowEnvironment, good, pay } from "testing/flows.ts";
import type { Books } from "./bank_books.ts";

const PAUSE_MS = 50;

type Authorised = Awaited<ReturnType<typeof authorised>>;

/** One order of the shop. */
export interface ShopOrder {
  readonly name: string;
  /** The newest authorization, with the idempotency key of its payment. */
  consent?: Authorised & { readonly key: string };
  /** Of the payment that was answered with 201. */
  paymentId?: string;
}

export interface Shop {
  readonly orders: ShopOrder[];
  /** When payments were answered with 201, milliseconds. */
  readonly paidAt: number[];
  /** Answers to payments other than 201 and 503. */
  readonly unexpected: string[];
  /** Lets a customer authorise a new order. */
  authorise(): Promise<ShopOrder>;
  /** Sends the payment until it is answered with 201. Ends without that if the shop was closed. */
  pay(order: ShopOrder): Promise<void>;
  /** Pays new orders, so many at a time, while they are wanted. */
  payNew(isWanted: () => boolean, atOnce: number): Promise<void>;
  /** Waits until so many payments were answered with 201. */
  untilPaid(count: number): Promise<void>;
  /** Abandons the payments under way. */
  close(): void;
  /** Looks for the payment of each order, and lets customers pay the orders anew whose payment does not exist. */
  lookAfterAll(): Promise<void>;
}

/** @param prefix of the names of its orders */
export function openShop(env: FlowEnvironment, prefix: string): Shop {
  let isClosed = false;
  let made = 0;
  const newOrder = (): ShopOrder => {
    const order = { name: `${prefix}-${++made}` };
    shop.orders.push(order);
    return order;
  };
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const attempt = async (order: ShopOrder): Promise<void> => {
    order.consent ??= await authorise(env, order.name);
    const answer = await pay(env, order.consent, { idempotencyKey: order.consent.key });
    const text = await answer.text();
    if (answer.status === 201) {
      shop.paidAt.push(Date.now());
      order.paymentId = (JSON.parse(text) as Payment).Data.DomesticPaymentId;
    } else if (answer.status !== 503) {
      shop.unexpected.push(`${order.name}: ${answer.status} ${text}`);
    }
  };
  const shop: Shop = {
    orders: [],
    paidAt: [],
    unexpected: [],
    async authorise() {
      const order = newOrder();
      while (order.consent === undefined) {
        await authorise(env, order.name).then((consent) => order.consent = consent, pause);
      }
      return order;
    },
    async pay(order) {
      while (order.paymentId === undefined && !isClosed) {
        await attempt(order).catch(() => {}); // no connection, or 503 to a step of the authorization
        if (order.paymentId === undefined) await pause();
      }
    },
    async payNew(isWanted, atOnce) {
      const customer = async (): Promise<void> => {
        while (isWanted() && !isClosed) await shop.pay(newOrder());
      };
      await Promise.all(Array.from({ length: atOnce }, customer));
    },
    async untilPaid(count) {
      while (shop.paidAt.length < count) await pause();
    },
    close: () => void (isClosed = true),
    async lookAfterAll() {
      isClosed = false;
      for (const order of shop.orders) {
        if (await find(env, order)) continue;
        delete order.consent;
        delete order.paymentId;
        await shop.pay(order);
      }
    },
  };
  return shop;
}

async function authorise(env: FlowEnvironment, name: string): Promise<NonNullable<ShopOrder["consent"]>> {
  const body = consentBody({ initiation: { EndToEndIdentification: name } });
  return { ...await authorised(env, { body }), key: crypto.randomUUID() };
}

/** Whether the order's payment exists. The operator knows the id of one that the shop got no answer of. */
async function find(env: FlowEnvironment, order: ShopOrder): Promise<boolean> {
  const { consent } = order;
  if (consent === undefined) return false;
  const id = order.paymentId ?? await paymentIdOf(consent.consentId as Parameters<typeof paymentIdOf>[0]);
  const bound = await clientToken(env, env.tpp);
  const answer = await call(env, env.tpp, bound, `/BANKA/domestic-payments/v1/${id}`);
  if (answer.status === 400) {
    await answer.body?.cancel();
    return false;
  }
  const { Data } = await good<Payment>(answer, 200);
  order.paymentId = Data.DomesticPaymentId;
  return true;
}

/** The bank's payments of each order of the shop. */
export function paymentsByOrder({ orders }: Books): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  for (const [id, { order }] of orders) {
    const { Data } = decodeJwt<PaymentOrder>(order);
    const name = String(Data.Initiation["EndToEndIdentification"]);
    (found[name] ??= []).push(id);
  }
  return found;
}
