/** Several processes on one store share the due orders [D1, D4]. */
import { assert, assertEquals } from "@std/assert";
import {
  accepts,
  copiesOf,
  down,
  history,
  later,
  openPushEnvironment,
  orderIdOf,
  outboxKeys,
  paid,
} from "support/orders.ts";
import { setOrganisation, setSoftware } from "support/directory_network.ts";
import { BOUND_MS } from "support/standing.ts";
import { anotherProcess, openRacedStore } from "support/processes.ts";

for (const [processes, orders, maxLost] of [[3, 500, 0.1], [10, 200, 0.2]] as const) {
  Deno.test(`${processes} processes that begin at once deliver ${orders} due orders, each once, and lose less than ${maxLost} of their commits [D1, D4, M1]`, async () => {
    const store = await openRacedStore();
    await using env = await openPushEnvironment(down, { store });
    const { DomesticPaymentId: first } = await paid(env);
    await copiesOf(env, first, orders - 1);
    const all = [env.platform];
    while (all.length < processes) all.push(await anotherProcess(env));
    env.answer = accepts;
    env.now += 1250;
    env.pushes.length = store.commits = store.lost = 0;
    const pushed = await Promise.all(all.map((platform) => platform.deliverDueOrders()));
    assertEquals(pushed.reduce((sum, count) => sum + count), orders);
    assertEquals([env.pushes.length, new Set(env.pushes.map(orderIdOf)).size], [orders, orders]);
    assertEquals(await outboxKeys(env), []);
    assert(store.lost < store.commits * maxLost, `${store.lost} of ${store.commits} commits were lost`);
    await Promise.all(all.slice(1).map((platform) => platform.stop()));
  });
}

Deno.test("three processes that begin at once resume 60 held orders, each once, and lose less than a fifth of their commits [G5, M1]", async () => {
  const store = await openRacedStore();
  await using env = await openPushEnvironment(down, { store });
  const { DomesticPaymentId: first } = await paid(env);
  const ids = [first, ...await copiesOf(env, first, 59)];
  await setOrganisation(env, env.bankA, "Suspended");
  await later(env, BOUND_MS);
  assertEquals((await env.store.list({ prefix: ["outbox_held"], limit: 100 })).length, ids.length);
  const all = [env.platform, await anotherProcess(env), await anotherProcess(env)];
  await setOrganisation(env, env.bankA, "Active");
  await setSoftware(env, env.bankA, "Active");
  env.now += BOUND_MS;
  await Promise.all(all.map((platform) => platform.followDirectory()));
  env.answer = accepts;
  env.pushes.length = store.commits = store.lost = 0;
  await Promise.all(all.map((platform) => platform.deliverDueOrders()));
  assertEquals(env.pushes.map(orderIdOf).toSorted(), ids.toSorted());
  for (const id of ids.slice(-3)) {
    const resumed = (await history(env, id)).filter((entry) => entry.startsWith("payment_order.resumed"));
    assertEquals(resumed.length, 1);
  }
  assert(store.lost < store.commits / 5, `${store.lost} of ${store.commits} commits were lost`);
  await Promise.all(all.slice(1).map((platform) => platform.stop()));
});
