/**
 * Several processes on one store share the due orders [D1, D4]. A POST of the platform whose connection ends without a
 * response, over real connections [D4]. The worker on a store that fails: no order is pushed that cannot be leased, and
 * none is lost or pushed twice. What a process with a wrong clock does to the orders that it shares with others [D4].
 * One bank's orders never wait for another bank's, however many wait there and however slow it is [D4].
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  accepts,
  copiesOf,
  down,
  history,
  later,
  openPushEnvironment,
  orderIdOf,
  ORDERS_URI,
  outboxKeys,
  outboxOrder,
  paid,
  type Push,
  type PushEnvironment,
  UNKNOWN,
} from "support/orders.ts";
import { setOrganisation, setSoftware } from "support/directory_network.ts";
import { BOUND_MS } from "support/standing.ts";
import { anotherProcess, openRacedStore } from "support/processes.ts";
import { decodeJwt } from "jose";
import { denoFetch } from "../../../../src/base/http/deno_fetch.ts";
import { historyOf } from "../../../../src/platform/evidence/audit_trail.ts";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { paymentRecord } from "../../../../src/platform/core/payments/payment_store.ts";
import { ownSignerOf } from "../../../../src/platform/evidence/evidence_store.ts";
import { pushOrder } from "../../../../src/platform/core/payments/push_order.ts";
import { askBank } from "../../../../src/platform/operations/recovery/ask_bank.ts";
import { NOTHING_COMPARED } from "../../../../src/platform/operations/recovery/hold.ts";
import { AUTH_URL, openEnvironment, START } from "testing/environment.ts";
import { openSilentBank } from "support/silent_bank.ts";
import type { LogLine } from "testing/answers.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { openTestStore } from "testing/test_store.ts";
import { type Commit, type Store, StoreFailure } from "../../../../src/base/store/store.ts";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { forParticipant } from "../../../../src/platform/guards/security/standing.ts";

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
    const entries = await historyOf(env.store, id); // the copies have no beginning
    const resumed = entries.filter(({ event }) => event === "payment_order.resumed");
    assertEquals(resumed.length, 1);
  }
  assert(store.lost < store.commits / 5, `${store.lost} of ${store.commits} commits were lost`);
  await Promise.all(all.slice(1).map((platform) => platform.stop()));
});

Deno.test("a POST to a bank arrives once, whether the bank keeps the connection or ends it without a response [D4]", async (t) => {
  await using env = await openEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  assertEquals(await outboxKeys(env), []);
  const entry = await paymentRecord.get(env.store, ["payment", id]);
  if (entry === null) throw new Error("no payment");
  const keys = await openKeyRing(env.config.keys);
  const { signer } = keys;
  const ownSigner = () => ownSignerOf(keys);
  const deps = { fetch: denoFetch, signer, ownSigner, authUrl: AUTH_URL, loopbackBanks: true };
  const hold = { bank: entry.value.bank, epoch: "", restoredAt: 0, since: 0, comparison: NOTHING_COMPARED };
  const posts = {
    "an order": async (uri: string) =>
      (await pushOrder(deps, uri, forParticipant(entry.value), START)).outcome.ok,
    "an inquiry": async (uri: string) => (await askBank(deps, uri, hold, START)).ok,
  };
  for (const [name, post] of Object.entries(posts)) {
    await t.step(name, async () => {
      using bank = openSilentBank();
      assertEquals([await post(bank.uri), await post(bank.uri), await post(bank.uri)], [true, true, true]);
      assertEquals([bank.arrived.length, new Set(bank.arrived.map((jwt) => decodeJwt(jwt).jti)).size], [
        3,
        3,
      ]);
      bank.closes = true;
      assertEquals(await post(bank.uri), false);
      assertEquals([bank.arrived.length, new Set(bank.arrived.map((jwt) => decodeJwt(jwt).jti)).size], [
        4,
        4,
      ]);
    });
  }
});

Deno.test("orders wait while the store cannot be written, without a try for each, and are pushed once afterwards [D1, D4]", async () => {
  const database = await openFailing();
  await using env = await openPushEnvironment(down, { store: database.store });
  const { DomesticPaymentId: first } = await paid(env);
  await copiesOf(env, first, 149);
  env.answer = accepts;
  env.pushes.length = 0;
  env.now += 3000;
  database.isFull = true;
  const logged = env.logged.length;
  for (let pass = 0; pass < 3; pass++) await env.platform.deliverDueOrders().catch(() => 0);
  assertEquals(env.pushes.length, 0);
  assertEquals(database.failures, 3, "one try a pass");
  const events = env.logged.slice(logged).map((line) => (JSON.parse(line) as LogLine).event);
  assertEquals(events, ["store.failing"]);
  database.isFull = false;
  await env.platform.deliverDueOrders();
  assertEquals([env.pushes.length, new Set(env.pushes.map(orderIdOf)).size], [150, 150]);
});

Deno.test("reads that begin to fail while banks are looked up end the pass, not the process [D4]", async () => {
  const kv = await openTestStore();
  let listings = Infinity;
  const list: Store["list"] = async (listing) => {
    if (listing.prefix[0] === "outbox_queue" && listings-- <= 0) throw new StoreFailure("disk I/O error");
    return await kv.list(listing);
  };
  await using env = await openPushEnvironment(down, { store: { ...kv, list } });
  await paid(env);
  env.answer = accepts;
  env.pushes.length = 0;
  env.now += 3000;
  listings = 1; // the lookup of the bank succeeds, and every later read fails
  const error = await env.platform.deliverDueOrders().catch((error: ApiError) => error);
  assert(error instanceof ApiError && error.reason === "store.unavailable");
  listings = Infinity;
  await env.platform.deliverDueOrders();
  assertEquals(env.pushes.length, 1);
});

Deno.test("a payment that was made is answered, though the store cannot be read after that [C7, D4]", async () => {
  const kv = await openTestStore();
  let isFailing = false;
  const reading = async <T>(read: () => Promise<T>): Promise<T> => {
    if (isFailing) throw new StoreFailure("disk I/O error");
    return await read();
  };
  const store: Store = {
    ...kv,
    get: (key) => reading(() => kv.get(key)),
    getMany: (keys) => reading(() => kv.getMany(keys)),
    async commit(staged) {
      const done = await kv.commit(staged);
      isFailing ||= done && staged.writes.some(({ key }) => key[0] === "payment");
      return done;
    },
  };
  await using env = await openPushEnvironment(accepts, { store });
  assertEquals((await paid(env)).Status, "Pending");
});

interface FailingDatabase {
  readonly store: Store;
  isFull: boolean;
  failures: number;
}

/** A database whose disk is full when the test says so. */
async function openFailing(): Promise<FailingDatabase> {
  const kv = await openTestStore();
  const commit = (staged: Commit): Promise<boolean> => {
    if (!self.isFull) return kv.commit(staged);
    self.failures++;
    return Promise.reject(new StoreFailure("database or disk is full"));
  };
  const self: FailingDatabase = { store: { ...kv, commit }, isFull: false, failures: 0 };
  return self;
}

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
  const ahead = loggedLines(env, "clock.stored_ahead");
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
  assertEquals(loggedLines(env, "clock.stored_ahead").map(({ level }) => level), ["error"]);
  await stepped.stop();
});

function loggedLines(env: PushEnvironment, event: string): readonly LogLine[] {
  return env.logged.map((line) => JSON.parse(line) as LogLine).filter((line) => line.event === event);
}

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

Deno.test("a pass that a fault ends for one bank ends when its pushes to the others have [D4]", async () => {
  const kv = await openTestStore();
  const list: Store["list"] = async (listing) => {
    const [kind, bank] = listing.prefix;
    if (kind === "outbox_queue" && bank === "BANKB" && listing.limit > 1) throw new TypeError("planted");
    return await kv.list(listing);
  };
  await using env = await openPushEnvironment(down, {
    store: { ...kv, list },
    paymentOrdersUri: { bankB: OTHER_URI },
  });
  await good(pay(env, await authorised(env, { bank: env.bankB })), 201);
  await paid(env);
  const silence = silentBank(env);
  env.answer = silence.answer;
  env.pushes.length = 0;
  env.now += 1250;
  let isOver = false;
  const pass = assertRejects(() => env.platform.deliverDueOrders(), TypeError, "planted")
    .finally(() => isOver = true);
  await until(() => silence.waiting === 1);
  for (let turn = 0; turn < 10; turn++) await new Promise((done) => setTimeout(done)); // the faulty walk has ended
  assertEquals([isOver, env.pushes.length], [false, 1]);
  silence.end();
  await pass;
  assertEquals((await outboxKeys(env)).length, 2, "bank B's order, and its place in the queue");
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
