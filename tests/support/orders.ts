/** A world whose bank A takes pushed orders: its HTTP is a function of the test's, and every push is kept. */
import { decodeJwt } from "jose";
import type { PaymentOrder } from "../../src/platform/payments/payment_order.ts";
import { historyOf } from "../../src/platform/audit_trail.ts";
import { authorised, call, clientToken, good, type Json, pay } from "../../scripts/testing/flows.ts";
import { openWorld, type World, type WorldOptions } from "../../scripts/testing/environment.ts";

export const ORDERS_URI = "https://bank-a.example/payment-orders";

/** One push as the bank received it. */
export interface Push {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  /** World time, ms. */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** How the bank answers. */
export type BankAnswer = (push: Push) => Response | Promise<Response>;

/** A world with a bank that takes pushes. */
export interface PushWorld extends World {
  readonly pushes: Push[];
  answer: BankAnswer;
}

/** Opens it; `answer` may be replaced at any time. */
export async function openPushWorld(
  answer: BankAnswer = accepts,
  { uri = ORDERS_URI, ...options }: WorldOptions & { uri?: string } = {},
): Promise<PushWorld> {
  const paymentOrdersUri = { ...options.paymentOrdersUri, bankA: uri };
  const world = await openWorld({ ...options, paymentOrdersUri });
  const pushWorld: PushWorld = Object.assign(world, { pushes: [], answer });
  const directory = world.network;
  world.network = async (request) => {
    const host = new URL(request.url).host;
    if (host === "directory.example") return await directory(request);
    const { method, url, headers, signal } = request;
    const push = { method, url, headers, signal, body: await request.text(), at: world.now };
    pushWorld.pushes.push(push);
    return await pushWorld.answer(push);
  };
  return pushWorld;
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

/** Nothing comes until the platform gives up. */
export function silent({ signal }: Push): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** The order's id in a push. */
export function orderIdOf({ body }: Push): string {
  return (decodeJwt(body) as Json).Data.DomesticPaymentId;
}

/** The one push there was. */
export function onlyPush({ pushes }: PushWorld): Push {
  const [push] = pushes;
  if (push === undefined || pushes.length > 1) throw new Error(`${pushes.length} pushes`);
  return push;
}

/** Steps 1 to 8; the payment as answered. */
export async function paid(world: World): Promise<Json> {
  return (await good(pay(world, await authorised(world)), 201)).Data;
}

/** The payment as its TPP reads it now. */
export async function payment(world: World, id: string): Promise<Json> {
  const bound = await clientToken(world, world.tpp);
  return (await good(call(world, world.tpp, bound, `/BANKA/domestic-payments/v1/${id}`), 200)).Data;
}

/** Its status now. */
export async function statusOf(world: World, id: string): Promise<string> {
  return (await payment(world, id)).Status;
}

/** The order in the outbox, or null when it has left. */
export async function outboxOrder(world: World, id: string): Promise<PaymentOrder | null> {
  return (await world.store.get<PaymentOrder>(["outbox", id]))?.value ?? null;
}

/** Everything about orders that waits in the store. */
export async function outboxKeys(world: World): Promise<readonly string[]> {
  const listed = await Promise.all(
    ["outbox", "outbox_due", "outbox_dead", "outbox_held"].map((prefix) =>
      world.store.list({ prefix: [prefix], limit: 1000 })
    ),
  );
  return listed.flat().map(({ key }) => key.join(" "));
}

/** `event by actor` of a payment's history, oldest first. */
export async function history(world: World, id: string): Promise<readonly string[]> {
  return (await historyOf(world.store, id)).map(({ event, actor }) => `${event} by ${actor}`);
}

/** The bank reports a status on the back channel; gives the raw answer. */
export async function report(world: World, id: string, status: string): Promise<Response> {
  const bound = await clientToken(world, world.bankA, "BANKA");
  const Data = { Status: status, StatusUpdateDateTime: new Date(world.now).toISOString() };
  return await call(world, world.bankA, bound, `/BANKA/back-channel-payments/v1/${id}`, {
    method: "PUT",
    body: JSON.stringify({ Data }),
  });
}

/** Moves the clock and has a worker pass; gives how many orders it pushed. */
export async function later(world: World, milliseconds: number): Promise<number> {
  world.now += milliseconds;
  return await world.platform.deliverDueOrders();
}
