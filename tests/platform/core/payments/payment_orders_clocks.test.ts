/** What a process with a wrong clock does to the orders that it shares with others [D4]. */
import { assert, assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  outboxOrder,
  paid,
  type PushEnvironment,
  UNKNOWN,
} from "support/orders.ts";
import { anotherProcess } from "support/processes.ts";

const DAY_MS = 86_400_000;

Deno.test("a process whose clock was a day ahead for five seconds makes no other give an order up early, and the others log it [D4]", async () => {
  let aheadMs = 0;
  await using env = await openPushEnvironment(down);
  const other = await anotherProcess(env, () => aheadMs);
  const { DomesticPaymentId: id } = await paid(env);
  const began = env.now;
  const bothDeliver = async (ms: number): Promise<void> => {
    env.now += ms;
    await other.deliverDueOrders();
    await env.platform.deliverDueOrders();
  };
  aheadMs = DAY_MS;
  for (let second = 1; second <= 5; second++) await bothDeliver(1000);
  aheadMs = 0;
  assert(env.pushes.length <= 9, `${env.pushes.length} pushes: more than each process's own waits allow`);
  while (env.now - began < 1_022_000) await bothDeliver(1000);
  assertEquals((await outboxOrder(env, id))?.state, "waiting", "no process has seen all delays pass");
  for (let second = 0; second < 1300 && (await outboxOrder(env, id))?.state !== "dead"; second += 10) {
    await bothDeliver(10_000);
  }
  assertEquals((await outboxOrder(env, id))?.state, "dead");
  const ahead = linesOf(env, "clock.stored_ahead");
  assert(ahead.length > 0 && ahead.every(({ seconds }) => Number(seconds) > 86_000), JSON.stringify(ahead));
  await other.stop();
});

Deno.test("a process that was started with a clock a day ahead gives up no order that it has not seen fail before [D4]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256]) await later(env, seconds * 1250);
  assertEquals((await outboxOrder(env, id))?.failures, 10);
  const wrong = await anotherProcess(env, () => DAY_MS);
  assertEquals(await wrong.deliverDueOrders(), 1);
  assertEquals((await outboxOrder(env, id))?.state, "waiting");
  assertEquals(await wrong.deliverDueOrders(), 0);
  await wrong.stop();
  env.answer = accepts;
  assertEquals(await later(env, 640_000), 1);
  assertEquals((await history(env, id)).filter((entry) => entry !== UNKNOWN).length, 2);
});

Deno.test("a clock that is put back by an hour makes no order due earlier or later, and logs that a stored time is ahead [D4]", async () => {
  let aheadMs = 0;
  await using env = await openPushEnvironment(down);
  const stepped = await anotherProcess(env, () => aheadMs);
  const { DomesticPaymentId: id } = await paid(env);
  env.now += 1250;
  assertEquals([await stepped.deliverDueOrders(), env.pushes.length], [1, 2]);
  aheadMs = -DAY_MS / 24;
  env.answer = accepts;
  env.now += 1999;
  assertEquals([await stepped.deliverDueOrders(), env.pushes.length], [0, 2]);
  env.now += 501;
  assertEquals([await stepped.deliverDueOrders(), env.pushes.length], [1, 3]);
  assertEquals(await outboxOrder(env, id), null);
  assertEquals(linesOf(env, "clock.stored_ahead").map(({ level }) => level), ["error"]);
  await stepped.stop();
});

function linesOf(env: PushEnvironment, event: string): readonly LogLine[] {
  return env.logged.map((line) => JSON.parse(line) as LogLine).filter((line) => line.event === event);
}
