/** Orders that an operator closes, and what the bank says of them later. */
import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import type { OpenOrders } from "testing/operation_answers.ts";
import type { Environment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import { setOrganisation, setSoftware } from "support/directory_network.ts";
import { BOUND_MS } from "support/standing.ts";
import { historyOf } from "testing/histories.ts";
import { ORDER_LEASE_SECONDS } from "../../../../src/base/profile.ts";
import { giveUp } from "./operated.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  outboxKeys,
  paid,
  payment,
  type PushEnvironment,
  report,
} from "support/orders.ts";

/** Suspends the bank at the directory, or ends that. */
async function setBank(
  env: Environment & Pick<PushEnvironment, "bankA">,
  status: "Active" | "Suspended",
): Promise<void> {
  await setOrganisation(env, env.bankA, status);
  if (status === "Active") await setSoftware(env, env.bankA, status);
}

const CLOSE = {
  Reason: "The bank's desk says that it never arrived.",
  StatusReason: "The bank did not take it.",
};

function close(env: Environment, id: string, data: object = CLOSE): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ Data: data });
  return env.asOperator(`/operations/payment-orders/${id}/close`, { method: "POST", headers, body });
}

/** A payment whose order the bank has rejected with a 4xx, or never answered. */
async function dead(answer: () => Response): Promise<PushEnvironment & { id: string }> {
  const env = await openPushEnvironment(answer);
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  return Object.assign(env, { id });
}

async function redrive(env: Environment, id: string): Promise<void> {
  await good(env.asOperator(`/operations/payment-orders/${id}/redrive`, { method: "POST" }), 202);
}

async function listed(env: Environment, state = "dead"): Promise<OpenOrders["Data"]["PaymentOrder"]> {
  const { Data } = await good<OpenOrders>(env.asOperator(`/operations/payment-orders?state=${state}`), 200);
  return Data.PaymentOrder;
}

const refuses = (): Response => new Response(null, { status: 400 });

Deno.test("an operator closes an order that the bank does not take, and the TPP reads why [OP9, O3, G6]", async () => {
  await using env = await dead(refuses);
  const closed = await good(close(env, env.id), 200);
  assertEquals(closed, { Data: { DomesticPaymentId: env.id, State: "closed", Status: "Rejected" } });
  const { Status, StatusReason } = await payment(env, env.id);
  assertEquals([Status, StatusReason], ["Rejected", "The bank did not take it."]);
  assertEquals(await outboxKeys(env), []);
  assertEquals((await history(env, env.id)).at(-1), "payment.Rejected by operator maria");
  env.answer = accepts;
  assertEquals(await later(env, 86_400_000), 0, "never pushed again");
  assertEquals((await close(env, env.id)).status, 404);
});

Deno.test("an order that the bank may have taken is closed only if the operator says so [OP9]", async () => {
  await using env = await dead(down);
  const before = await env.snapshot();
  for (const data of [CLOSE, { ...CLOSE, MayBeAtBank: false }]) {
    const answer = await close(env, env.id, data);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [409, "may_be_at_bank"]);
  }
  assertEquals(await env.snapshot(), before);
  assertEquals((await listed(env))[0]?.MayBeAtBank, true);
  await good(close(env, env.id, { ...CLOSE, MayBeAtBank: true }), 200);
  assertEquals((await payment(env, env.id)).Status, "Rejected");
  const last = (await historyOf(env.store, env.id)).at(-1);
  assertEquals(last?.reason, `${CLOSE.Reason} (the bank may have the order)`);
});

Deno.test("an order that was redriven after the bank's 4xx may be at the bank [OP9]", async () => {
  await using env = await dead(refuses);
  env.answer = down;
  await redrive(env, env.id);
  await giveUp(env);
  assertEquals((await close(env, env.id)).status, 409);
});

const cut = (): never => {
  throw new TypeError("connection closed before message completed");
};
const LOST: Readonly<Record<string, () => Response | Promise<Response>>> = {
  "a connection that is cut": cut,
  "a status 500": () => new Response(null, { status: 500 }),
  "a redirect": () => new Response(null, { status: 307, headers: { location: "/orders" } }),
  "a 200 that is not JSON": () => new Response("taken"),
  "a 200 with another Status": () => Response.json({ Status: "Taken" }),
  "a 204": () => new Response(null, { status: 204 }),
  "a request for a later try": () => new Response(null, { status: 429 }),
};

for (const [name, lost] of Object.entries(LOST)) {
  Deno.test(`an order that was answered by ${name} may be at the bank, whatever the bank answers later [OP9, O3]`, async () => {
    await using env = await openPushEnvironment(lost);
    const { DomesticPaymentId: id } = await paid(env);
    env.answer = refuses;
    await giveUp(env);
    assertEquals(env.pushes.length, 2);
    assertEquals((await close(env, id)).status, 409);
    assertEquals((await listed(env))[0]?.MayBeAtBank, true);
    await good(close(env, id, { ...CLOSE, MayBeAtBank: true }), 200);
  });
}

Deno.test("an order that the bank calls a conflict may be at the bank [OP9, O3]", async () => {
  await using env = await dead(() => new Response(null, { status: 409 }));
  assertEquals([env.pushes.length, (await close(env, env.id)).status], [1, 409]);
});

Deno.test("an order of a process that ended during the push may be at the bank [OP9, O3]", async () => {
  await using env = await openPushEnvironment(refuses);
  const answered = Promise.withResolvers<Response>();
  env.answer = () => (env.answer = refuses, answered.promise);
  const payment = paid(env);
  const { DomesticPaymentId: id } = await payment; // after 3 s its TPP waits no more
  await later(env, ORDER_LEASE_SECONDS * 1000);
  assertEquals([env.pushes.length, (await close(env, id)).status], [2, 409]);
  answered.resolve(refuses());
});

Deno.test("a redrive and a hold of more than a day do not make the platform forget that the bank may have the order [OP9, O3]", async () => {
  await using env = await dead(down);
  await setBank(env, "Suspended");
  await redrive(env, env.id);
  await later(env, BOUND_MS);
  assertEquals((await listed(env, "held"))[0]?.MayBeAtBank, true);
  env.now += 86_400_001;
  await setBank(env, "Active");
  await later(env, BOUND_MS);
  const [order] = await listed(env);
  assertEquals([order?.PushFailures, order?.LastFailure], [0, "held for more than 24 h"]);
  assertEquals((await history(env, env.id)).at(-1), "payment_order.dead by platform");
  const logged = env.logged.map((line) =>
    JSON.parse(line) as { readonly event: string; readonly why?: string }
  );
  assertEquals(logged.flatMap(({ event, why }) => event === "order.dead" ? why : []), [
    "status 503",
    "held for more than 24 h",
  ]);
  assertEquals([order?.MayBeAtBank, (await close(env, env.id)).status], [true, 409]);
});

Deno.test("an order that is still tried is not closed, and of ten closings one succeeds [OP9]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  assertEquals((await close(env, id)).status, 409);
  await giveUp(env);
  const data = { ...CLOSE, MayBeAtBank: true };
  const all = await Promise.all(Array.from({ length: 10 }, () => close(env, id, data)));
  assertEquals(all.map(({ status }) => status).toSorted(), [200, ...Array(9).fill(404)]);
  await Promise.all(all.map((answer) => answer.body?.cancel()));
  assertEquals((await history(env, id)).filter((line) => line.includes("Rejected")).length, 1);
});

Deno.test("an order that is held or being pushed is neither closed nor tried again [OP9]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  const statuses = async (): Promise<readonly number[]> => {
    const closing = await close(env, id, { ...CLOSE, MayBeAtBank: true });
    const redriving = await env.asOperator(`/operations/payment-orders/${id}/redrive`, { method: "POST" });
    await Promise.all([closing.body?.cancel(), redriving.body?.cancel()]);
    return [closing.status, redriving.status];
  };
  const answered = Promise.withResolvers<Response>();
  env.answer = () => answered.promise;
  const push = later(env, 1250);
  while (env.pushes.length < 2) await new Promise((done) => setTimeout(done, 1));
  assertEquals(await statuses(), [409, 409], "being pushed");
  answered.resolve(down());
  await push;
  await setBank(env, "Suspended");
  await later(env, BOUND_MS);
  assertEquals([(await listed(env, "held")).length, await statuses()], [1, [409, 409]]);
});

Deno.test("closing does not change a payment that the bank has decided, nor put its time back [OP9]", async () => {
  await using env = await dead(refuses);
  const { StatusUpdateDateTime: before } = await payment(env, env.id);
  const stored = await env.store.get<{ readonly status: string }>(["payment", env.id]);
  const store = (value: unknown): Promise<boolean> =>
    env.store.commit({ checks: [], writes: [{ kind: "set", key: ["payment", env.id], value }] });
  await store({ ...stored?.value, status: "AcceptedSettlementCompleted" });
  assertEquals((await close(env, env.id)).status, 409);
  await store(stored?.value);
  env.clockStep = -7 * 86_400_000; // before the payment
  await env.restart();
  await good(close(env, env.id), 200);
  env.clockStep = 0;
  await env.restart();
  assertEquals((await payment(env, env.id)).StatusUpdateDateTime, before);
});

Deno.test("what the bank reports of a closed order counts, and from then on the usual rules hold [OP10, PT10]", async () => {
  await using env = await dead(refuses);
  await good(close(env, env.id), 200);
  assertEquals((await report(env, env.id, "AcceptedSettlementInProcess")).status, 200);
  const reported = await payment(env, env.id);
  assertEquals([reported.Status, reported.StatusReason], ["AcceptedSettlementInProcess", undefined]);
  assertEquals((await history(env, env.id)).slice(-2), [
    "payment.Rejected by operator maria",
    `payment.AcceptedSettlementInProcess by ${env.bankA.clientId}`,
  ]);
  assertEquals((await report(env, env.id, "AcceptedSettlementInProcess")).status, 200, "a repeated report");
  assertEquals((await report(env, env.id, "Rejected")).status, 200);
  assertEquals(
    (await report(env, env.id, "AcceptedSettlementInProcess")).status,
    400,
    "the bank has rejected it",
  );
});

Deno.test("a rejection that the bank reports of a closed order is the bank's own from then on [OP10]", async () => {
  await using env = await dead(refuses);
  await good(close(env, env.id), 200);
  assertEquals((await report(env, env.id, "Rejected")).status, 200);
  assertEquals((await report(env, env.id, "AcceptedSettlementInProcess")).status, 400);
});
