/** An environment whose bank A takes pushed orders: its HTTP is a function of the test's, and every push is kept. */
import { decodeJwt } from "jose";
import { isQueued, type PaymentOrder } from "../../src/platform/core/payments/payment_order.ts";
import type { Payment, PaymentOrder as OrderClaims } from "testing/answers.ts";
import { asPaymentId } from "../../src/base/kernel/identifiers.ts";
import { outboxQueueKey } from "../../src/platform/config/store_keys.ts";
import { historyOf } from "testing/histories.ts";
import { call, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { type Environment, type EnvironmentOptions, openEnvironment } from "testing/environment.ts";
import { sharedToken } from "testing/shared_token.ts";

export const ORDERS_URI = "https://bank-a.example/payment-orders";

/** One push as the bank received it. */
export interface Push {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  /** Environment time, ms. */
  readonly at: number;
  readonly signal: AbortSignal;
  /** The redirect mode that the platform passed to fetch. */
  readonly redirect: Request["redirect"];
}

/** How the bank answers. */
export type BankAnswer = (push: Push) => Response | Promise<Response>;

/** An environment with a bank that takes pushes. */
export interface PushEnvironment extends Environment {
  readonly pushes: Push[];
  answer: BankAnswer;
}

/** Opens it; `answer` may be replaced at any time. */
export async function openPushEnvironment(
  answer: BankAnswer = accepts,
  { uri = ORDERS_URI, ...options }: EnvironmentOptions & { uri?: string } = {},
): Promise<PushEnvironment> {
  const paymentOrdersUri = { ...options.paymentOrdersUri, bankA: uri };
  const env = await openEnvironment({ ...options, paymentOrdersUri });
  const pushEnvironment: PushEnvironment = Object.assign(env, { pushes: [], answer });
  const directory = env.network;
  env.network = async (request) => {
    const host = new URL(request.url).host;
    if (host === "directory.example") return await directory(request);
    const { method, url, headers, signal, redirect } = request;
    const push = { method, url, headers, signal, redirect, body: await request.text(), at: env.now };
    pushEnvironment.pushes.push(push);
    return await pushEnvironment.answer(push);
  };
  return pushEnvironment;
}

/** `{Status}` with 200. */
export function answers(status: string): BankAnswer {
  return () => Response.json({ Status: status });
}

/** The bank accepts. */
export const accepts: BankAnswer = answers("AcceptedSettlementInProcess");

/** The bank is down. */
export function down(): Response {
  return new Response("down", { status: 503 });
}

/** Sends no response until the platform aborts. */
export function silent({ signal }: Push): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** The order's id in a push. */
export function orderIdOf({ body }: Push): string {
  return decodeJwt<OrderClaims>(body).Data.DomesticPaymentId;
}

/** The one push there was. */
export function onlyPush({ pushes }: PushEnvironment): Push {
  const [push] = pushes;
  if (push === undefined || pushes.length > 1) throw new Error(`${pushes.length} pushes`);
  return push;
}

/** Steps 1 to 8; the payment as answered. */
export async function paid(env: Environment): Promise<Payment["Data"]> {
  return (await good(pay(env, await authorised(env)), 201)).Data;
}

/** The payment as its TPP reads it now. */
export async function payment(env: Environment, id: string): Promise<Payment["Data"]> {
  const bound = await sharedToken(env, env.tpp);
  return (await good<Payment>(call(env, env.tpp, bound, `/BANKA/domestic-payments/v1/${id}`), 200)).Data;
}

/** Its status now. */
export async function statusOf(env: Environment, id: string): Promise<string> {
  return (await payment(env, id)).Status;
}

/** The order in the outbox, or null when it has left. */
export async function outboxOrder(env: Environment, id: string): Promise<PaymentOrder | null> {
  return (await env.store.get<PaymentOrder>(["outbox", id]))?.value ?? null;
}

/** When the order in the queue is due, ms. */
export async function dueAtOf(env: Environment, id: string): Promise<number> {
  const order = await outboxOrder(env, id);
  if (order === null || !isQueued(order)) throw new Error(`${id} has no order in the queue`);
  return order.dueAt;
}

/** Everything about orders that waits in the store. */
export async function outboxKeys(env: Environment): Promise<readonly string[]> {
  const listed = await Promise.all(
    ["outbox", "outbox_queue", "outbox_dead", "outbox_held"].map((prefix) =>
      env.store.list({ prefix: [prefix], limit: 1000 })
    ),
  );
  return listed.flat().map(({ key }) => key.join(" "));
}

/** The entry in a payment's history of a push after which the bank may have the order. */
export const UNKNOWN = "payment_order.outcome_unknown by platform";

/** `event by actor` of a payment's history, oldest first. */
export async function history(env: Environment, id: string): Promise<readonly string[]> {
  return (await historyOf(env.store, id)).map(({ event, actor }) => `${event} by ${actor}`);
}

/** The bank reports a status on the back channel; gives the raw answer. */
export async function report(env: Environment, id: string, status: string): Promise<Response> {
  const bound = await sharedToken(env, env.bankA, "BANKA");
  const Data = { Status: status, StatusUpdateDateTime: new Date(env.now).toISOString() };
  return await call(env, env.bankA, bound, `/BANKA/back-channel-payments/v1/${id}`, {
    method: "PUT",
    body: JSON.stringify({ Data }),
  });
}

/** Further payments and orders, equal to this one but for their ids. */
export async function copiesOf(env: Environment, id: string, count: number): Promise<readonly string[]> {
  const [order, payment] = await Promise.all([
    env.store.get<PaymentOrder>(["outbox", id]),
    env.store.get<object>(["payment", id]),
  ]);
  if (order === null || !isQueued(order.value)) throw new Error(`${id} has no order in the queue`);
  const { bank, dueAt } = order.value;
  const copies = Array.from({ length: count }, () => crypto.randomUUID());
  for (let start = 0; start < count; start += 100) {
    const writes = copies.slice(start, start + 100).flatMap((copy) => {
      const paymentId = asPaymentId(copy) ?? order.value.paymentId;
      return [
        { kind: "set", key: ["payment", copy], value: { ...payment?.value, id: copy } },
        { kind: "set", key: ["outbox", copy], value: { ...order.value, paymentId } },
        { kind: "set", key: outboxQueueKey(bank, dueAt, paymentId), value: copy },
      ] as const;
    });
    await env.store.commit({ checks: [], writes });
  }
  return copies;
}

/** Moves the clock and has a worker pass; gives how many orders it pushed. */
export async function later(env: Environment, milliseconds: number): Promise<number> {
  env.now += milliseconds;
  return await env.platform.deliverDueOrders();
}
