/** The worker on a store that fails: no order is pushed that cannot be leased, and none is lost or pushed twice. */
import { assert, assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { openTestStore } from "testing/test_store.ts";
import { type Commit, type Store, StoreFailure } from "../../../../src/base/store/store.ts";
import { accepts, copiesOf, down, openPushEnvironment, orderIdOf, paid } from "support/orders.ts";

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
  assert(database.failures <= 3 * 110, `${database.failures} tries`);
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
