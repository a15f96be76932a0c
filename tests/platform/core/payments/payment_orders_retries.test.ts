/**
 * When an order is tried again, given up and left alone [D4]. While a bank asks for a pause, no order of that TPP is
 * pushed to it; other TPPs and other banks go on [D4]. Orders to a bank that is not active are held: not sent, not
 * failed, visible to the operator, sent when it is active again.
 */
import { assert, assertEquals } from "@std/assert";
import { bodyOf, type LogLine, present } from "testing/answers.ts";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  down,
  dueAtOf,
  history,
  later,
  openPushEnvironment,
  ORDERS_URI,
  outboxKeys,
  outboxOrder,
  paid,
  payment,
  type PushEnvironment,
  statusOf,
  UNKNOWN,
} from "support/orders.ts";
import { FAILURES, setOrganisation, setSoftware } from "support/directory_network.ts";
import type { HeldOrders } from "testing/operation_answers.ts";
import { renewedStatement } from "testing/registration.ts";
import { BOUND_MS } from "support/standing.ts";
import { testWith } from "support/environment_test.ts";

const test = testWith(() => openPushEnvironment(down));

/** Milliseconds until the order is due. */
async function wait(env: PushEnvironment, id: string): Promise<number> {
  return await dueAtOf(env, id) - env.now;
}

type Agreement = Awaited<ReturnType<typeof authorised>>;

/**
 * Consents that customers accepted before the bank failed, because no customer is sent to a bank that keeps failing.
 */
async function agreements(env: PushEnvironment, count: number): Promise<[Agreement, ...Agreement[]]> {
  const made: [Agreement, ...Agreement[]] = [await authorised(env)];
  while (made.length < count) made.push(await authorised(env));
  return made;
}

/** The bank is down, and says so only after this number of pushes in all. */
function heldUntil(env: PushEnvironment, pushes: number): () => Promise<Response> {
  const reached = Promise.withResolvers<void>();
  return async () => {
    if (env.pushes.length >= pushes) reached.resolve();
    await reached.promise;
    return down();
  };
}

/** Moves to just before, then to when the order is due; gives how often it was pushed at each. */
async function toNextPush(env: PushEnvironment, id: string): Promise<readonly number[]> {
  const due = await wait(env, id);
  return [await later(env, due - 1), await later(env, 1)];
}

test("An order is pushed again after 1, 2, 4 … 512 s, each with up to a quarter more, then given up for good [D4]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]) {
    const due = await wait(env, id);
    assert(due >= seconds * 1000 && due <= seconds * 1250, `${due} ms instead of ${seconds} s`);
    const pushes = env.pushes.length;
    assertEquals(await toNextPush(env, id), [0, 1]);
    assertEquals(env.pushes.length, pushes + 1);
  }
  assertEquals(env.pushes.length, 11);
  assertEquals(await outboxKeys(env), [`outbox ${id}`, `outbox_dead ${id}`]);
  assertEquals(await later(env, 30 * 86_400_000), 0);
  assertEquals(env.pushes.length, 11);
  assertEquals(await statusOf(env, id), "Pending");
  assertEquals((await history(env, id)).slice(1), [
    ...Array(10).fill(UNKNOWN),
    "payment_order.dead by platform",
  ]);
  const dead = env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ event }) =>
    event === "order.dead"
  );
  assertEquals(dead.map(({ level, paymentId, failures, why }) => [level, paymentId, failures, why]), [
    ["error", id, 11, "status 503"],
  ]);
  const warned = env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ event }) =>
    event === "order.not_delivered"
  );
  assertEquals(
    warned.map(({ level, paymentId, bank, failures, why }) => [level, paymentId, bank, failures, why]),
    Array.from({ length: 10 }, (_, before) => ["warn", id, "BANKA", before + 1, "status 503"]),
  );
});

test("An order survives any number of failures before the last and is then recorded once [D4]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  for (let failures = 1; failures < 11; failures++) {
    if (failures === 10) env.answer = accepts;
    assertEquals(await toNextPush(env, id), [0, 1]);
  }
  assertEquals(env.pushes.length, 11);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  assertEquals(await outboxKeys(env), []);
  assertEquals((await history(env, id)).slice(1), [
    ...Array(10).fill(UNKNOWN),
    "payment.AcceptedSettlementInProcess by bank BANKA",
  ]);
});

test("After five orders in a row have failed a bank's orders wait 30 s; then a new one and an old one try, and the others follow their success [D4]", async ({ env }) => {
  const [last, ...flows] = await agreements(env, 6);
  const ids: string[] = [];
  for (const flow of flows) ids.push((await good(pay(env, flow), 201)).Data.DomesticPaymentId);
  assertEquals(env.pushes.length, 5);
  const opened = env.now;

  // The TPP does not wait for a bank that is known to be down.
  const sixth = (await good(pay(env, last), 201)).Data;
  assertEquals([sixth.Status, env.pushes.length], ["Pending", 5]);
  assertEquals((await outboxOrder(env, sixth.DomesticPaymentId))?.failures, 0);
  assertEquals(await later(env, 1250), 0);
  assertEquals(await later(env, 28_749), 0);
  assertEquals([env.pushes.length, env.now - opened], [5, 29_999]);

  env.answer = heldUntil(env, 7);
  assertEquals(await later(env, 1), 2); // the probes, side by side: the sixth, and one of the five
  assertEquals([env.pushes.length, await later(env, 29_999)], [7, 0]);
  env.answer = accepts;
  assert(await later(env, 1) >= 1); // more, if the probe has succeeded before the others asked
  while (env.now - opened < 120_000) await later(env, 1000);
  const statuses = await Promise.all([...ids, sixth.DomesticPaymentId].map((id) => statusOf(env, id)));
  assertEquals(new Set(statuses), new Set(["AcceptedSettlementInProcess"]));
  assertEquals(env.pushes.length, 13); // 5, two failed probes, and each of the six once
  assertEquals(await outboxKeys(env), []);
});

test("A probe that never tells anything does not close the bank off for ever [D4]", async ({ env }) => {
  for (let made = 0; made < 5; made++) await paid(env);
  const lost = Promise.withResolvers<Response>();
  env.answer = () => lost.promise;
  env.now += 30_000;
  const probing = env.platform.deliverDueOrders();
  const putOff = async (): Promise<number> =>
    (await outboxKeys(env)).filter((key) => key.startsWith(`outbox_queue BANKA 00${env.now + 6000}`)).length;
  while (env.pushes.length < 6 || await putOff() < 4) await new Promise((done) => setTimeout(done, 1));
  env.answer = accepts;
  assertEquals(await later(env, 5999), 0);
  assert(await later(env, 1) >= 1); // more, if the next probe has succeeded before the others asked
  lost.reject(new TypeError("gone"));
  await probing;
});

Deno.test("One bank's failures leave another bank's orders alone [D4]", async () => {
  const other = "https://bank-b.example/payment-orders";
  await using env = await openPushEnvironment(
    (push) => push.url === other ? accepts(push) : down(),
    { paymentOrdersUri: { bankB: other } },
  );
  for (const flow of await agreements(env, 6)) await good(pay(env, flow), 201);
  assertEquals(env.pushes.map(({ url }) => url), Array(5).fill(ORDERS_URI)); // bank A is left alone now
  const flow = await authorised(env, { bank: env.bankB });
  const made = await good(pay(env, flow), 201);
  assertEquals([made.Data.Status, env.pushes.length], ["AcceptedSettlementInProcess", 6]);
});

const OTHER_URI = "https://bank-b.example/payment-orders";

Deno.test("A Retry-After of the bank holds back the TPP's further orders as well, until it is over [D4]", async () => {
  await using env = await openPushEnvironment(busy("40"));
  const first = await paid(env);
  env.answer = accepts;
  const second = await paid(env);
  assertEquals([second.Status, env.pushes.length], ["Pending", 1]);
  assertEquals((await outboxOrder(env, second.DomesticPaymentId))?.failures, 0); // it was not tried
  assertEquals(await later(env, 39_999), 0);
  assertEquals(await later(env, 1), 1);
  assertEquals(await statusOf(env, second.DomesticPaymentId), "AcceptedSettlementInProcess");
  assertEquals(await later(env, 10_000), 1); // up to a quarter later than the bank asked for
  assertEquals(await statusOf(env, first.DomesticPaymentId), "AcceptedSettlementInProcess");
});

Deno.test("A Retry-After for one TPP holds back no other TPP's orders and no other bank's [D4]", async () => {
  await using env = await openPushEnvironment(busy("40"), { paymentOrdersUri: { bankB: OTHER_URI } });
  await paid(env);
  env.answer = accepts;
  const otherTpp: PushEnvironment = Object.assign(Object.create(env), { tpp: env.otherTpp });
  assertEquals((await paid(otherTpp)).Status, "AcceptedSettlementInProcess");
  const atBankB = await authorised(env, { bank: env.bankB });
  assertEquals((await good(pay(env, atBankB), 201)).Data.Status, "AcceptedSettlementInProcess");
});

Deno.test("A Retry-After of a year holds orders back for 512 s, also if the clock is set back [D4]", async () => {
  await using env = await openPushEnvironment(busy("31536000"));
  await paid(env);
  env.answer = accepts;
  const { DomesticPaymentId: id } = await paid(env);
  env.clockStep = -60_000;
  assertEquals([await later(env, 511_999), await later(env, 1)], [0, 1]);
  env.clockStep = 0;
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

function busy(retryAfter: string): () => Response {
  return () => new Response(null, { status: 429, headers: { "retry-after": retryAfter } });
}

const SUSPENDED = "The bank is not active: the directory has suspended it.";

/** A payment whose bank is down, and how many pushes it has had. */
async function undelivered(): Promise<PushEnvironment & { id: string }> {
  const env = await openPushEnvironment(down);
  const { DomesticPaymentId: id, Status } = await paid(env);
  assertEquals([Status, env.pushes.length], ["Pending", 1]);
  return Object.assign(env, { id });
}

async function listed(env: PushEnvironment, query = "state=held"): Promise<HeldOrders> {
  const answer = await env.asOperator(`/operations/payment-orders?${query}`);
  assertEquals(answer.status, 200);
  return (await bodyOf<{ Data: HeldOrders }>(answer)).Data;
}

async function reactivate(env: PushEnvironment): Promise<void> {
  await setOrganisation(env, env.bankA, "Active");
  await setSoftware(env, env.bankA, "Active");
}

test("an answer that comes after the clock was put back does not put the time of the status back [D4, PR2]", async ({ env }) => {
  const made = await paid(env);
  env.answer = accepts;
  env.clockStep = -7 * 86_400_000; // the order's time is too far ahead, so that it is due
  await env.restart();
  await later(env, 0);
  env.clockStep = 0;
  await env.restart();
  const { Status, StatusUpdateDateTime } = await payment(env, made.DomesticPaymentId);
  assertEquals([Status, StatusUpdateDateTime], ["AcceptedSettlementInProcess", made.CreationDateTime]);
});

Deno.test("an order to a suspended bank is held within 15 s, and pushed when the bank is active again [G5]", async (t) => {
  await using env = await undelivered();
  const { id } = env;
  env.answer = accepts;
  await setOrganisation(env, env.bankA, "Suspended");
  await t.step("it is not posted and counts no failure", async () => {
    await later(env, BOUND_MS);
    for (let hour = 0; hour < 3; hour++) await later(env, 3_600_000);
    assertEquals(env.pushes.length, 1);
    assertEquals((await outboxOrder(env, id))?.failures, 1);
  });
  await t.step("the operator sees it and why", async () => {
    const { PaymentOrder: [order, ...more] } = await listed(env);
    assertEquals(more, []);
    const { DomesticPaymentId, BankId, State, HeldBecause, PushFailures, LastFailure } = present(order);
    assertEquals([DomesticPaymentId, BankId, State, HeldBecause, PushFailures, LastFailure], [
      id,
      "BANKA",
      "held",
      SUSPENDED,
      1,
      "status 503",
    ]);
    assertEquals(order?.HeldSinceDateTime, "2040-01-15T12:00:15+00:00");
    assertEquals((await listed(env, "state=dead")).PaymentOrder, []);
  });
  await t.step("it goes out as soon as the bank is active again", async () => {
    await reactivate(env);
    assertEquals(await later(env, BOUND_MS), 1);
    assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
    assertEquals((await listed(env)).PaymentOrder, []);
    assertEquals(await outboxKeys(env), []);
    assertEquals((await history(env, id)).slice(1), [
      UNKNOWN,
      "payment_order.held by platform",
      "payment_order.resumed by platform",
      "payment.AcceptedSettlementInProcess by bank BANKA",
    ]);
  });
});

Deno.test("an order to a withdrawn bank is never posted to it [G5]", async () => {
  await using env = await undelivered();
  env.answer = accepts;
  await setOrganisation(env, env.bankA, "Withdrawn");
  for (const wait of [BOUND_MS, 600_000, 86_400_000]) await later(env, wait);
  assertEquals(env.pushes.length, 1);
  const [order] = (await listed(env)).PaymentOrder;
  assertEquals(order?.HeldBecause, "The bank is not active: the directory has withdrawn it.");
});

Deno.test("no order is posted while it is unknown whether its bank is active [G5] [A9]", async () => {
  await using env = await undelivered();
  const { id, network } = env;
  env.answer = accepts;
  const fail = FAILURES["status 500"]?.() ?? network;
  env.network = (request) =>
    new URL(request.url).host === "directory.example" ? fail(request) : network(request);
  await later(env, 900_001);
  assertEquals(env.pushes.length, 1);
  const [order] = (await listed(env)).PaymentOrder;
  assertEquals(order?.HeldBecause, "The directory cannot be asked whether the bank is active.");
  env.network = network;
  assertEquals(await later(env, 10_000), 1);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

Deno.test("held orders are listed page by page and resumed bank by bank [G5]", async () => {
  await using env = await undelivered();
  await setOrganisation(env, env.bankA, "Suspended");
  await later(env, BOUND_MS);
  const [order, payment] = await env.store.getMany<object>([["outbox", env.id], ["payment", env.id]]);
  for (let copy = 0; copy < 120; copy++) {
    const id = crypto.randomUUID();
    const value = { ...order?.value, paymentId: id };
    await env.store.commit({
      checks: [],
      writes: [
        { kind: "set", key: ["outbox", id], value },
        { kind: "set", key: ["outbox_held", "BANKA", id], value: id },
        { kind: "set", key: ["payment", id], value: { ...payment?.value, id } },
      ],
    });
  }
  const first = await listed(env);
  const second = await listed(env, `state=held&after=${first.After}`);
  assertEquals([first.PaymentOrder.length, second.PaymentOrder.length, second.After], [100, 21, undefined]);
  env.answer = accepts;
  await reactivate(env);
  let pushed = 0;
  for (let pass = 0; pass < 3; pass++) pushed += await later(env, BOUND_MS);
  assertEquals([pushed, await outboxKeys(env)], [121, []]);
});

Deno.test("orders go to the address of the bank's newest statement within 15 s, without a registration [G5] [D4]", async () => {
  await using env = await undelivered();
  env.answer = accepts;
  env.now += 1000; // a statement of another second
  const moved = "https://orders.bank-a.example/v2";
  await renewedStatement(env, env.bankA, { payment_orders_uri: moved });
  await later(env, BOUND_MS);
  assertEquals(env.pushes.map(({ url }) => url), [ORDERS_URI, moved]);
  assertEquals(await statusOf(env, env.id), "AcceptedSettlementInProcess");
});
