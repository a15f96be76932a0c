/** Who pushes an order when several could, and what a crash leaves behind [D1]. */
import { assert, assertEquals } from "@std/assert";
import { composePlatform, type Platform } from "../../../src/platform/compose.ts";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { authorised, pay } from "../../../scripts/testing/flows.ts";
import {
  accepts,
  down,
  history,
  later,
  onlyPush,
  openPushWorld,
  orderIdOf,
  outboxKeys,
  outboxOrder,
  paid,
  type PushWorld,
  statusOf,
} from "../../support/orders.ts";

Deno.test("40 parallel passes push an order once, however slow the bank is [D1]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  let pushing = 0;
  let most = 0;
  world.answer = async () => {
    most = Math.max(most, ++pushing);
    await new Promise((done) => setTimeout(done, 100));
    pushing--;
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  };
  world.now += 1250;
  const passes = await Promise.all(Array.from({ length: 40 }, () => world.platform.deliverDueOrders()));
  assertEquals([passes.reduce((sum, pushed) => sum + pushed), most], [1, 1]);
  assertEquals(world.pushes.map(orderIdOf), [id, id]);
  assertEquals((await history(world, id)).slice(1), ["payment.AcceptedSettlementInProcess by bank BANKA"]);
});

Deno.test("Two processes on one store push an order once [D1]", async () => {
  await using world = await openPushWorld(down);
  await paid(world);
  const other = await anotherProcess(world);
  world.answer = accepts;
  world.now += 1250;
  const passes = await Promise.all([
    world.platform.deliverDueOrders(),
    other.deliverDueOrders(),
    world.platform.deliverDueOrders(),
    other.deliverDueOrders(),
  ]);
  assertEquals(passes.toSorted(), [0, 0, 0, 1]);
  assertEquals(world.pushes.length, 2);
  await other.stop();
});

Deno.test("An order that somebody pushes is not due for anyone else for 15 s [D1]", async () => {
  const gate = Promise.withResolvers<void>();
  await using world = await openPushWorld(async () => {
    await gate.promise;
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  });
  const paying = paid(world); // its request holds the order
  while (world.pushes.length === 0) await new Promise((done) => setTimeout(done, 1));
  assertEquals(await later(world, 14_999), 0);
  assertEquals(world.pushes.length, 1);
  const second = later(world, 1); // the lease is over: as if the first had crashed
  while (world.pushes.length === 1) await new Promise((done) => setTimeout(done, 1));
  gate.resolve();
  const [{ DomesticPaymentId: id }, pushed] = await Promise.all([paying, second]);
  await world.platform.stop();
  assertEquals([pushed, world.pushes.map(orderIdOf)], [1, [id, id]]);
  assertEquals((await history(world, id)).slice(1), ["payment.AcceptedSettlementInProcess by bank BANKA"]);
  assertEquals(await outboxKeys(world), []);
});

Deno.test("A worker that stalls between taking an order and pushing it leaves it to whoever has it by then [D1]", async () => {
  const store = await stallableStore();
  await using world = await openPushWorld(down, { store });
  const { id, stalled } = await stallWorker(world, store);
  const other = await anotherProcess(world);
  world.now += 15_000;
  assertEquals(await other.deliverDueOrders(), 1);
  store.goOn.resolve();
  assertEquals([await stalled, world.pushes.map(orderIdOf)], [0, [id, id]]);
  assertEquals((await history(world, id)).slice(1), ["payment.AcceptedSettlementInProcess by bank BANKA"]);
  await other.stop();
});

Deno.test("A worker that stalls and has lost nothing to anyone pushes late rather than never [D1]", async () => {
  const store = await stallableStore();
  await using world = await openPushWorld(down, { store });
  const { id, stalled } = await stallWorker(world, store);
  world.now += 10_001; // a push takes up to 5 s and the lease is 15 s
  store.goOn.resolve();
  assertEquals([await stalled, world.pushes.length], [0, 1]);
  assertEquals(await later(world, 4999), 1);
  assertEquals(await statusOf(world, id), "AcceptedSettlementInProcess");
});

Deno.test("A crash between the push and its record has the order pushed again, with the same id [D1]", async () => {
  const store = await breakableStore();
  await using world = await openPushWorld(accepts, { store });
  const flow = await authorised(world);
  world.answer = () => {
    store.broken = true; // nothing is written any more: the process is as good as dead
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  };
  const answer = await pay(world, flow);
  await answer.body?.cancel();
  assert(answer.status >= 500); // nobody is there to answer
  store.broken = false;
  const id = orderIdOf(onlyPush(world));
  assertEquals(await statusOf(world, id), "Pending");
  assertEquals((await outboxOrder(world, id))?.failures, 0);

  world.answer = accepts;
  const restarted = await anotherProcess(world);
  assertEquals(await restarted.deliverDueOrders(), 0); // the dead process still has the lease
  world.now += 15_000;
  assertEquals(await restarted.deliverDueOrders(), 1);
  assertEquals(world.pushes.map(orderIdOf), [id, id]);
  assertEquals(await statusOf(world, id), "AcceptedSettlementInProcess");
  assertEquals((await history(world, id)).slice(1), ["payment.AcceptedSettlementInProcess by bank BANKA"]);
  await restarted.stop();
});

Deno.test("A crash between the payment's commit and the first push loses no order [D1]", async () => {
  const store = await breakableStore();
  await using world = await openPushWorld(accepts, { store });
  const flow = await authorised(world);
  const committed = store.commit;
  store.commit = async (staged) => {
    const done = await committed(staged);
    if (staged.writes.some(({ key }) => key[0] === "outbox")) store.broken = true;
    return done;
  };
  const answer = await pay(world, flow);
  await answer.body?.cancel();
  assert(answer.status >= 500);
  assertEquals(world.pushes.length, 0);
  store.commit = committed;
  store.broken = false;
  assertEquals(await later(world, 15_000), 1);
  const [id = ""] = world.pushes.map(orderIdOf);
  assertEquals(await statusOf(world, id), "AcceptedSettlementInProcess");
});

Deno.test("An order in trouble of its own does not keep the others of its batch [D1]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: broken } = await paid(world);
  const { DomesticPaymentId: sound } = await paid(world);
  const payment = await world.store.get(["payment", broken]);
  await world.store.commit({ checks: [], writes: [{ kind: "delete", key: ["payment", broken] }] });
  world.answer = accepts;
  assertEquals(await later(world, 1250), 1);
  assertEquals(await statusOf(world, sound), "AcceptedSettlementInProcess");
  const failed = world.logged.map((line) => JSON.parse(line)).filter(({ event }) =>
    event === "order.delivery_failed"
  );
  assertEquals(failed.map(({ level, paymentId }) => [level, paymentId]), [["error", broken]]);
  await world.store.commit({
    checks: [],
    writes: [{ kind: "set", key: ["payment", broken], value: payment?.value }],
  });
  assertEquals(await later(world, 15_000), 1);
  assertEquals(await statusOf(world, broken), "AcceptedSettlementInProcess");
});

Deno.test("A worker that was started delivers by itself, and stops [D1]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  world.answer = accepts;
  world.now += 1250;
  world.platform.startWork();
  world.platform.startWork(); // twice is once
  while (world.pushes.length < 2) await new Promise((done) => setTimeout(done, 10));
  await world.platform.stop();
  assertEquals([world.pushes.length, await statusOf(world, id)], [2, "AcceptedSettlementInProcess"]);
});

/** The platform again, over the same store: another process as far as orders are concerned. */
async function anotherProcess(world: PushWorld): Promise<Platform> {
  return await composePlatform({
    config: world.config,
    store: world.store,
    clock: () => world.now,
    fetch: ((input: Request | string | URL, init?: RequestInit) =>
      world.network(new Request(input, init))) as typeof fetch,
    log: (line) =>
      void world.logged.push(line),
    keys: await openKeyRing(world.config.platformKeys),
  });
}

/** A store whose next reading of a payment takes until it is told to go on. */
async function stallableStore(): Promise<
  Store & { stall(): void; readonly stalled: PromiseWithResolvers<void>; goOn: PromiseWithResolvers<void> }
> {
  const store = await openDenoKv(":memory:");
  const [stalled, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let stalls = false;
  return {
    ...store,
    stalled,
    goOn,
    stall: () => void (stalls = true),
    async get<T>(key: Parameters<Store["get"]>[0]): ReturnType<typeof store.get<T>> {
      if (stalls && key[0] === "payment") {
        stalls = false;
        stalled.resolve();
        await goOn.promise;
      }
      return await store.get<T>(key);
    },
  };
}

/** A worker that has taken an order, which the bank would accept now, and stalls before it pushes it. */
async function stallWorker(
  world: PushWorld,
  store: Awaited<ReturnType<typeof stallableStore>>,
): Promise<{ readonly id: string; readonly stalled: Promise<number> }> {
  const { DomesticPaymentId: id } = await paid(world);
  world.answer = accepts;
  store.stall();
  const stalled = later(world, 1250);
  await store.stalled.promise;
  return { id, stalled };
}

/** A store that can stop working, as the disk under a crashed process does. */
async function breakableStore(): Promise<Store & { broken: boolean; commit: Store["commit"] }> {
  const store = await openDenoKv(":memory:");
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
