/** `store/transaction`: single-use markers ride in the commit of the effect that they guard, over a real store. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Refusal } from "../../../src/base/kernel/api_error.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Key, Store } from "../../../src/base/store/store.ts";
import {
  begin,
  check,
  commit,
  type Markers,
  newMarkers,
  type Once,
  remove,
  set,
  untilCommitted,
} from "../../../src/base/store/transaction.ts";

// Deno KV forgets by the computer's clock, so the moving clock starts an hour ahead of it.
const NOW = Date.now() + 3_600_000;
const PROOF: Once = { key: ["spent_jwt", "dpop", "a"], expiresAt: NOW + 120_000, refusal: "dpop.replayed" };
const ASSERTION: Once = {
  key: ["spent_jwt", "assertion", "b"],
  expiresAt: NOW + 60_000,
  refusal: "client.not_authenticated",
};
const EFFECT: Key = ["payment", "1"];

interface World {
  readonly store: Store;
  /** Milliseconds. */
  now: number;
  /** Commits `EFFECT` with these markers pending, as one request would. */
  spend(...markers: readonly Once[]): Promise<boolean>;
}

function test(promise: string, body: (world: World) => Promise<void>): void {
  Deno.test(`transaction ${promise}`, async () => {
    const store = await openDenoKv(":memory:");
    const world: World = {
      store,
      now: NOW,
      spend(...markers): Promise<boolean> {
        const tx = begin(earned(...markers));
        set(tx, EFFECT, markers.length);
        return commit(store, () => world.now, tx);
      },
    };
    try {
      await body(world);
    } finally {
      store.close();
    }
  });
}

function earned(...markers: readonly Once[]): Markers {
  const pending = newMarkers();
  pending.pending.push(...markers);
  return pending;
}

async function reasonOf(work: () => Promise<unknown>): Promise<string> {
  const refusal = await assertRejects(work, Refusal);
  return refusal.reason;
}

test("commits staged sets, removals and checks", async ({ store }) => {
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["old"], value: 1 }] });
  const old = await store.get(["old"]);
  const tx = begin();
  check(tx, ["old"], old?.version ?? null);
  check(tx, ["new"], null);
  remove(tx, ["old"]);
  set(tx, ["new"], { n: 2 }, NOW);
  assertEquals(await commit(store, () => NOW, tx), true);
  assertEquals(await store.get(["old"]), null);
  assertEquals((await store.get(["new"]))?.value, { n: 2 });
});

test("gives false for a conflict of work alone, and writes nothing", async ({ store }) => {
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["taken"], value: 1 }] });
  const tx = begin();
  check(tx, ["taken"], null);
  set(tx, EFFECT, "new");
  assertEquals(await commit(store, () => NOW, tx), false);
  assertEquals(await store.get(EFFECT), null);
});

test("spends a marker with the effect, and has none pending afterwards [CA13, DP16]", async ({ store }) => {
  const markers = earned(PROOF, ASSERTION);
  const tx = begin(markers);
  set(tx, EFFECT, 1);
  assertEquals(await commit(store, () => NOW, tx), true);
  assertEquals(markers.pending, []);
  const spent = await store.getMany([PROOF.key, ASSERTION.key, EFFECT]);
  assert(spent.every((entry) => entry !== null));
});

test("lets a later commit of the same request go on without its markers", async ({ store }) => {
  const markers = earned(PROOF);
  assertEquals(await commit(store, () => NOW, begin(markers)), true);
  const second = begin(markers);
  set(second, EFFECT, 2);
  assertEquals(await commit(store, () => NOW, second), true);
  assertEquals((await store.get(EFFECT))?.value, 2);
});

test("refuses a spent marker with the marker's own reason [CA12, DP11]", async (world) => {
  assertEquals(await world.spend(PROOF), true);
  assertEquals(await reasonOf(() => world.spend(PROOF)), "dpop.replayed");
  assertEquals(await reasonOf(() => world.spend(ASSERTION, PROOF)), "dpop.replayed");
  assertEquals(await world.spend(ASSERTION), true);
  assertEquals(await reasonOf(() => world.spend(ASSERTION)), "client.not_authenticated");
});

test("names the first spent marker where several are", async (world) => {
  assertEquals(await world.spend(PROOF, ASSERTION), true);
  assertEquals(await reasonOf(() => world.spend(ASSERTION, PROOF)), "client.not_authenticated");
  assertEquals(await reasonOf(() => world.spend(PROOF, ASSERTION)), "dpop.replayed");
});

test("writes nothing on a refusal, and spends no other marker of the request", async (world) => {
  const { store } = world;
  assertEquals(await commit(store, () => NOW, begin(earned(PROOF))), true);
  const tx = begin(earned(ASSERTION, PROOF));
  set(tx, EFFECT, "new");
  assertEquals(await reasonOf(() => commit(store, () => NOW, tx)), "dpop.replayed");
  assertEquals(await store.getMany([EFFECT, ASSERTION.key]), [null, null]);
  assertEquals(tx.markers.pending, [ASSERTION], "the request's end spends it");
  assertEquals(tx.markers.refusal?.reason, "dpop.replayed");
});

test("lets an expired marker be spent again, from the millisecond of its expiry", async (world) => {
  assertEquals(await world.spend(PROOF), true);
  world.now = PROOF.expiresAt - 1;
  assertEquals(await reasonOf(() => world.spend(PROOF)), "dpop.replayed");
  world.now = PROOF.expiresAt;
  const again = { ...PROOF, expiresAt: world.now + 120_000 };
  assertEquals(await world.spend(again), true);
  assertEquals(await reasonOf(() => world.spend(again)), "dpop.replayed");
});

test("tells a conflict of work from a spent marker: false, and the marker stays good", async (world) => {
  const { store } = world;
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["consent"], value: "Consumed" }] });
  const markers = earned(PROOF);
  const tx = begin(markers);
  check(tx, ["consent"], null);
  set(tx, EFFECT, 1);
  assertEquals(await commit(store, () => NOW, tx), false);
  assertEquals(await store.getMany([EFFECT, PROOF.key]), [null, null]);
  assertEquals(markers.pending, [PROOF]);
  const retry = begin(markers); // the caller reads again and decides
  set(retry, EFFECT, 2);
  assertEquals(await commit(store, () => NOW, retry), true);
  assertEquals(markers.pending, []);
});

test("says false, not refusal, where the marker has expired and the work conflicts", async (world) => {
  const { store } = world;
  assertEquals(await world.spend(PROOF), true);
  world.now = PROOF.expiresAt;
  const tx = begin(earned({ ...PROOF, expiresAt: world.now + 1000 }));
  check(tx, EFFECT, null);
  assertEquals(await commit(store, () => world.now, tx), false);
});

test("refuses before it reports a conflict, where both are so", async (world) => {
  assertEquals(await world.spend(PROOF), true);
  const tx = begin(earned(PROOF));
  check(tx, EFFECT, null);
  assertEquals(await reasonOf(() => commit(world.store, () => NOW, tx)), "dpop.replayed");
});

test("lets one of 20 parallel requests with one marker through [CA-N19, DP-N14]", async (world) => {
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => world.spend(PROOF)));
  const through = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value);
  const refused = outcomes.filter(({ status }) => status === "rejected");
  assertEquals([through.length, refused.length], [1, 19]);
});

test("lets one of 20 parallel requests with one expired marker through", async (world) => {
  assertEquals(await world.spend(PROOF), true);
  world.now = PROOF.expiresAt;
  const again = { ...PROOF, expiresAt: world.now + 120_000 };
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => world.spend(again)));
  const through = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value);
  assertEquals(through.length, 1);
});

test("commits different markers of parallel requests side by side", async (world) => {
  const many = Array.from(
    { length: 20 },
    (_, index): Once => ({ ...PROOF, key: ["spent_jwt", String(index)] }),
  );
  assertEquals(await Promise.all(many.map((marker) => world.spend(marker))), many.map(() => true));
});

test("commits nothing at all without a word", async ({ store }) => {
  assertEquals(await commit(store, () => NOW, begin()), true);
});

test("gives up if its markers change before every attempt, with 503 and nothing written", async ({ store }) => {
  const expired = { ...PROOF, expiresAt: NOW - 1 };
  let commits = 0;
  // Another process replaces the expired marker again and again, each time just before this commit.
  const racing: Store = {
    ...store,
    async commit(staged) {
      commits += 1;
      const value = { expiresAt: expired.expiresAt };
      await store.commit({ checks: [], writes: [{ kind: "set", key: PROOF.key, value }] });
      return await store.commit(staged);
    },
  };
  const tx = begin(earned(PROOF));
  set(tx, EFFECT, "new");
  const refusal = await assertRejects(() => commit(racing, () => NOW, tx), Refusal);
  assertEquals([refusal.reason, refusal.parts.retryAfterSeconds], ["platform.unavailable", 1]);
  assert(commits <= 20, `${commits} commits`);
  assertEquals(await store.get(EFFECT), null);
});

test("untilCommitted returns what the attempt that committed returned, and starts with the reads of the request", async () => {
  const attempts: boolean[] = [];
  const made = await untilCommitted("work", (isFirst) => {
    attempts.push(isFirst);
    return Promise.resolve(attempts.length === 3 ? null : undefined);
  });
  assertEquals([made, attempts], [null, [true, false, false]]);
});

test("untilCommitted gives up after a bounded number of attempts, with 503", async () => {
  let attempts = 0;
  const refusal = await assertRejects(
    () => untilCommitted("work", () => Promise.resolve(void attempts++)),
    Refusal,
  );
  assertEquals([refusal.reason, refusal.parts.retryAfterSeconds], ["platform.unavailable", 1]);
  assert(attempts > 1 && attempts <= 20, `${attempts} attempts`);
});
