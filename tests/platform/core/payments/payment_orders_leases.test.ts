/** Who pushes an order when several could, and what a crash leaves behind [D1]. */
import { assert, assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Key, Store } from "../../../../src/base/store/store.ts";
import { pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  type BankAnswer,
  down,
  history,
  later,
  onlyPush,
  openPushEnvironment,
  orderIdOf,
  outboxKeys,
  outboxOrder,
  paid,
  type PushEnvironment,
  statusOf,
  UNKNOWN,
} from "support/orders.ts";
import { anotherProcess } from "support/processes.ts";
import { testWith } from "support/environment_test.ts";

const test = testWith(() => openPushEnvironment(down));

test("40 parallel passes push an order once, however slow the bank is [D1]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  let pushing = 0;
  let most = 0;
  env.answer = async () => {
    most = Math.max(most, ++pushing);
    await new Promise((done) => setTimeout(done, 100));
    pushing--;
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  };
  env.now += 1250;
  const passes = await Promise.all(Array.from({ length: 40 }, () => env.platform.deliverDueOrders()));
  assertEquals([passes.reduce((sum, pushed) => sum + pushed), most], [1, 1]);
  assertEquals(env.pushes.map(orderIdOf), [id, id]);
  assertEquals((await history(env, id)).slice(1), [
    UNKNOWN,
    "payment.AcceptedSettlementInProcess by bank BANKA",
  ]);
});

test("Two processes on one store push an order once [D1]", async ({ env }) => {
  await paid(env);
  const other = await anotherProcess(env);
  env.answer = accepts;
  env.now += 1250;
  const passes = await Promise.all([
    env.platform.deliverDueOrders(),
    other.deliverDueOrders(),
    env.platform.deliverDueOrders(),
    other.deliverDueOrders(),
  ]);
  assertEquals(passes.toSorted(), [0, 0, 0, 1]);
  assertEquals(env.pushes.length, 2);
  await other.stop();
});

Deno.test("An order that a worker pushes is not due for other workers for 15 s [D1]", async () => {
  const gate = Promise.withResolvers<void>();
  await using env = await openPushEnvironment(async () => {
    await gate.promise;
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  });
  const paying = paid(env); // its request holds the order
  while (env.pushes.length === 0) await new Promise((done) => setTimeout(done, 1));
  assertEquals(await later(env, 14_999), 0);
  assertEquals(env.pushes.length, 1);
  const second = later(env, 1); // the lease is over: as if the first had crashed
  while (env.pushes.length === 1) await new Promise((done) => setTimeout(done, 1));
  gate.resolve();
  const [{ DomesticPaymentId: id }, pushed] = await Promise.all([paying, second]);
  await env.platform.stop();
  assertEquals([pushed, env.pushes.map(orderIdOf)], [1, [id, id]]);
  assertEquals((await history(env, id)).slice(1), ["payment.AcceptedSettlementInProcess by bank BANKA"]);
  assertEquals(await outboxKeys(env), []);
});

Deno.test("A worker that found an order due leaves it to another that has taken it meanwhile, or has failed with it [D1]", async () => {
  const store = await stallableStore("outbox"); // between the list of due orders and the look at one of them
  await using env = await openPushEnvironment(down, { store });
  const { stalled } = await stallWorker(env, store, down);
  const other = await anotherProcess(env);
  assertEquals([await other.deliverDueOrders(), env.pushes.length], [1, 2]);
  store.goOn.resolve();
  assertEquals([await stalled, env.pushes.length], [0, 2]); // failed a moment ago: due again in 2 s
  await other.stop();
});

Deno.test("A worker that stalls between taking an order and pushing it leaves it to the worker that has taken it since [D1]", async () => {
  const store = await stallableStore();
  await using env = await openPushEnvironment(down, { store });
  const { id, stalled } = await stallWorker(env, store);
  const other = await anotherProcess(env);
  env.now += 15_000;
  assertEquals(await other.deliverDueOrders(), 1);
  store.goOn.resolve();
  assertEquals([await stalled, env.pushes.map(orderIdOf)], [0, [id, id]]);
  assertEquals((await history(env, id)).slice(1), [
    UNKNOWN,
    "payment.AcceptedSettlementInProcess by bank BANKA",
  ]);
  await other.stop();
});

Deno.test("A worker that stalls and has lost nothing to anyone pushes late rather than never [D1]", async () => {
  const store = await stallableStore();
  await using env = await openPushEnvironment(down, { store });
  const { id, stalled } = await stallWorker(env, store);
  env.now += 10_001; // a push takes up to 5 s and the lease is 15 s
  store.goOn.resolve();
  assertEquals([await stalled, env.pushes.length], [0, 1]);
  assertEquals(await later(env, 4999), 1);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

Deno.test("A crash between the push and its record has the order pushed again, with the same id [D1]", async () => {
  const store = await breakableStore();
  await using env = await openPushEnvironment(accepts, { store });
  const flow = await authorised(env);
  env.answer = () => {
    store.broken = true; // later writes fail, as if the process had ended
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  };
  const answer = await pay(env, flow);
  await answer.body?.cancel();
  assert(answer.status >= 500); // no response can be produced
  store.broken = false;
  const id = orderIdOf(onlyPush(env));
  assertEquals(await statusOf(env, id), "Pending");
  assertEquals((await outboxOrder(env, id))?.failures, 0);

  env.answer = accepts;
  const restarted = await anotherProcess(env);
  assertEquals(await restarted.deliverDueOrders(), 0); // the dead process still has the lease
  env.now += 15_000;
  assertEquals(await restarted.deliverDueOrders(), 1);
  assertEquals(env.pushes.map(orderIdOf), [id, id]);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  assertEquals((await history(env, id)).slice(1), ["payment.AcceptedSettlementInProcess by bank BANKA"]);
  await restarted.stop();
});

Deno.test("A crash between the payment's commit and the first push loses no order [D1]", async () => {
  const store = await breakableStore();
  await using env = await openPushEnvironment(accepts, { store });
  const flow = await authorised(env);
  const committed = store.commit;
  store.commit = async (staged) => {
    const done = await committed(staged);
    if (staged.writes.some(({ key }) => key[0] === "outbox")) store.broken = true;
    return done;
  };
  const answer = await pay(env, flow);
  await answer.body?.cancel();
  assert(answer.status >= 500);
  assertEquals(env.pushes.length, 0);
  store.commit = committed;
  store.broken = false;
  assertEquals(await later(env, 15_000), 1);
  const [id = ""] = env.pushes.map(orderIdOf);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

test("An order in trouble of its own does not keep the others of its batch [D1]", async ({ env }) => {
  const { DomesticPaymentId: broken } = await paid(env);
  const { DomesticPaymentId: sound } = await paid(env);
  const payment = await env.store.get(["payment", broken]);
  await env.store.commit({ checks: [], writes: [{ kind: "delete", key: ["payment", broken] }] });
  env.answer = accepts;
  assertEquals(await later(env, 1250), 1);
  assertEquals(await statusOf(env, sound), "AcceptedSettlementInProcess");
  const failed = env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ event }) =>
    event === "order.delivery_failed"
  );
  assertEquals(failed.map(({ level, paymentId }) => [level, paymentId]), [["error", broken]]);
  await env.store.commit({
    checks: [],
    writes: [{ kind: "set", key: ["payment", broken], value: payment?.value }],
  });
  assertEquals(await later(env, 15_000), 1);
  assertEquals(await statusOf(env, broken), "AcceptedSettlementInProcess");
});

test("A worker that was started delivers by itself, and stops [D1]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  env.answer = accepts;
  env.now += 1250;
  env.platform.startWork();
  env.platform.startWork(); // twice is once
  while (env.pushes.length < 2) await new Promise((done) => setTimeout(done, 10));
  await env.platform.stop();
  assertEquals([env.pushes.length, await statusOf(env, id)], [2, "AcceptedSettlementInProcess"]);
});

/** A store whose next reading of a payment, or of an order, takes until it is told to go on. */
async function stallableStore(kind: "payment" | "outbox" = "payment"): Promise<
  Store & { stall(): void; readonly stalled: PromiseWithResolvers<void>; goOn: PromiseWithResolvers<void> }
> {
  const store = await openTestStore();
  const [stalled, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let stalls = false;
  const stallAt = async (...keys: readonly Key[]): Promise<void> => {
    if (!stalls || !keys.some((key) => key[0] === kind)) return;
    stalls = false;
    stalled.resolve();
    await goOn.promise;
  };
  return {
    ...store,
    stalled,
    goOn,
    stall: () => void (stalls = true),
    async get<T>(key: Key): ReturnType<typeof store.get<T>> {
      await stallAt(key);
      return await store.get<T>(key);
    },
    async getMany<T>(keys: readonly Key[]): ReturnType<typeof store.getMany<T>> {
      await stallAt(...keys);
      return await store.getMany<T>(keys);
    },
  };
}

/** A worker that has found an order due, which the bank would accept now, and stalls before it pushes it. */
async function stallWorker(
  env: PushEnvironment,
  store: Awaited<ReturnType<typeof stallableStore>>,
  answer: BankAnswer = accepts,
): Promise<{ readonly id: string; readonly stalled: Promise<number> }> {
  const { DomesticPaymentId: id } = await paid(env);
  env.answer = answer;
  store.stall();
  const stalled = later(env, 1250);
  await store.stalled.promise;
  return { id, stalled };
}

/** A store that can stop working, as the disk under a crashed process does. */
async function breakableStore(): Promise<Store & { broken: boolean; commit: Store["commit"] }> {
  const store = await openTestStore();
  const working = <A extends unknown[], T>(act: (...given: A) => Promise<T>) => (...given: A): Promise<T> =>
    breakable.broken ? Promise.reject(new Error("the store is gone")) : act(...given);
  const breakable = {
    ...store,
    broken: false,
    get: working(store.get) as Store["get"],
    commit: working(store.commit),
  };
  return breakable;
}
