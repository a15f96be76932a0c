/** When an order is tried again, given up and left alone [D4]. */
import { assert, assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  ORDERS_URI,
  outboxKeys,
  outboxOrder,
  paid,
  type PushEnvironment,
  statusOf,
  UNKNOWN,
} from "support/orders.ts";
import { wait } from "./waits.ts";

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

Deno.test("An order is pushed again after 1, 2, 4 … 512 s, each with up to a quarter more, then given up for good [D4]", async () => {
  await using env = await openPushEnvironment(down);
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
});

Deno.test("An order survives any number of failures before the last and is then recorded once [D4]", async () => {
  await using env = await openPushEnvironment(down);
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

Deno.test("After five orders in a row have failed a bank's orders wait 30 s; then a new one and an old one try, and the others follow their success [D4]", async () => {
  await using env = await openPushEnvironment(down);
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

Deno.test("A probe that never tells anything does not close the bank off for ever [D4]", async () => {
  await using env = await openPushEnvironment(down);
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
