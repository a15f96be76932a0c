/** One bank's orders never wait for another bank's, however many wait there and however slow it is [D4]. */
import { assert, assertEquals } from "@std/assert";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  copiesOf,
  down,
  openPushEnvironment,
  orderIdOf,
  ORDERS_URI,
  outboxOrder,
  paid,
  type Push,
  type PushEnvironment,
} from "support/orders.ts";

const OTHER_URI = "https://bank-b.example/payment-orders";
/** Pushes to one bank that one process has under way. */
const AT_ONCE = 100;

Deno.test("a bank that never answers and has 1,000 orders waiting delays no order of another bank, and gets 100 at a time [D4]", async () => {
  await using env = await openPushEnvironment(down, { paymentOrdersUri: { bankB: OTHER_URI } });
  const bankB = await authorised(env, { bank: env.bankB });
  const bankA = await authorised(env);
  const { DomesticPaymentId: first } = await paid(env);
  const backlog = [first, ...await copiesOf(env, first, 999)];
  const silence = silentBank(env);
  env.now += 1250;
  env.platform.startWork();
  await until(() => silence.waiting === AT_ONCE);

  // A new order of bank B fails at first, so that the worker has to deliver it.
  env.answer = down;
  const order = (await good(pay(env, bankB), 201)).Data;
  env.answer = silence.answer;
  env.now += 1250;
  await until(async () => await outboxOrder(env, order.DomesticPaymentId) === null);
  assertEquals([silence.waiting, silence.most], [AT_ONCE, AT_ONCE]);

  // A new order of bank A is not pushed either: its TPP is answered after 3 s, and the order waits with the others.
  const late = (await good(pay(env, bankA), 201)).Data;
  assertEquals([late.Status, silence.waiting], ["Pending", AT_ONCE]);

  // A stop waits for the pushes under way and for the new order's own, not for the backlog.
  const stopping = env.platform.stop();
  silence.end();
  await stopping;
  const pushed = env.pushes.slice(1).filter(({ url }) => url === ORDERS_URI).map(orderIdOf);
  assertEquals([pushed.length, new Set(pushed).size], [AT_ONCE + 1, AT_ONCE + 1]);
  const left = await env.store.list({ prefix: ["outbox"], limit: 2000 });
  assertEquals(left.length, backlog.length - AT_ONCE);
});

/** Makes bank A keep every push waiting until `end`; other banks accept. */
function silentBank(env: PushEnvironment): {
  readonly waiting: number;
  readonly most: number;
  readonly answer: (push: Push) => Promise<Response>;
  end(): void;
} {
  const over = Promise.withResolvers<void>();
  const silence = {
    waiting: 0,
    most: 0,
    async answer(push: Push): Promise<Response> {
      if (push.url !== ORDERS_URI) return await accepts(push);
      silence.most = Math.max(silence.most, ++silence.waiting);
      await over.promise;
      silence.waiting--;
      return await accepts(push);
    },
    end: () => over.resolve(),
  };
  env.answer = silence.answer;
  return silence;
}

/** Waits for the platform's own worker, which begins a pass every second. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!await holds()) {
    assert(performance.now() < end, "waited for a minute");
    await new Promise((done) => setTimeout(done, 10));
  }
}
