/** `store/transaction`: replay records ride in the commit of the effect that they guard, over a real store. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Key, Store } from "../../../src/base/store/store.ts";
import {
  begin,
  check,
  commit,
  newReplayRecords,
  type Once,
  remove,
  type ReplayRecords,
  set,
  untilCommitted,
} from "../../../src/base/store/transaction.ts";

// Deno KV forgets by the computer's clock, so the moving clock starts an hour ahead of it.
const NOW = Date.now() + 3_600_000;
const PROOF: Once = { key: ["spent_jwt", "dpop", "a"], expiresAt: NOW + 120_000, rejection: "dpop.replayed" };
const ASSERTION: Once = {
  key: ["spent_jwt", "assertion", "b"],
  expiresAt: NOW + 60_000,
  rejection: "client.not_authenticated",
};
const EFFECT: Key = ["payment", "1"];

interface Environment {
  readonly store: Store;
  /** Milliseconds. */
  now: number;
  /** Commits `EFFECT` with these replay records pending, as one request would. */
  spend(...replayRecords: readonly Once[]): Promise<boolean>;
}

function test(promise: string, body: (env: Environment) => Promise<void>): void {
  Deno.test(`transaction ${promise}`, async () => {
    const store = await openDenoKv(":memory:");
    const env: Environment = {
      store,
      now: NOW,
      spend(...replayRecords): Promise<boolean> {
        const tx = begin(earned(...replayRecords));
        set(tx, EFFECT, replayRecords.length);
        return commit(store, () => env.now, tx);
      },
    };
    try {
      await body(env);
    } finally {
      store.close();
    }
  });
}

function earned(...replayRecords: readonly Once[]): ReplayRecords {
  const pending = newReplayRecords();
  pending.pending.push(...replayRecords);
  return pending;
}

async function reasonOf(work: () => Promise<unknown>): Promise<string> {
  const rejection = await assertRejects(work, ApiError);
  return rejection.reason;
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

test("spends a replayRecord with the effect, and has none pending afterwards [CA13, DP16]", async ({ store }) => {
  const replayRecords = earned(PROOF, ASSERTION);
  const tx = begin(replayRecords);
  set(tx, EFFECT, 1);
  assertEquals(await commit(store, () => NOW, tx), true);
  assertEquals(replayRecords.pending, []);
  const spent = await store.getMany([PROOF.key, ASSERTION.key, EFFECT]);
  assert(spent.every((entry) => entry !== null));
});

test("lets a later commit of the same request go on without its replayRecords", async ({ store }) => {
  const replayRecords = earned(PROOF);
  assertEquals(await commit(store, () => NOW, begin(replayRecords)), true);
  const second = begin(replayRecords);
  set(second, EFFECT, 2);
  assertEquals(await commit(store, () => NOW, second), true);
  assertEquals((await store.get(EFFECT))?.value, 2);
});

test("rejects a spent replayRecord with the replayRecord's own reason [CA12, DP11]", async (env) => {
  assertEquals(await env.spend(PROOF), true);
  assertEquals(await reasonOf(() => env.spend(PROOF)), "dpop.replayed");
  assertEquals(await reasonOf(() => env.spend(ASSERTION, PROOF)), "dpop.replayed");
  assertEquals(await env.spend(ASSERTION), true);
  assertEquals(await reasonOf(() => env.spend(ASSERTION)), "client.not_authenticated");
});

test("names the first spent replayRecord where several are", async (env) => {
  assertEquals(await env.spend(PROOF, ASSERTION), true);
  assertEquals(await reasonOf(() => env.spend(ASSERTION, PROOF)), "client.not_authenticated");
  assertEquals(await reasonOf(() => env.spend(PROOF, ASSERTION)), "dpop.replayed");
});

test("writes nothing on a rejection, and spends no other replayRecord of the request", async (env) => {
  const { store } = env;
  assertEquals(await commit(store, () => NOW, begin(earned(PROOF))), true);
  const tx = begin(earned(ASSERTION, PROOF));
  set(tx, EFFECT, "new");
  assertEquals(await reasonOf(() => commit(store, () => NOW, tx)), "dpop.replayed");
  assertEquals(await store.getMany([EFFECT, ASSERTION.key]), [null, null]);
  assertEquals(tx.replayRecords.pending, [ASSERTION], "the request's end spends it");
  assertEquals(tx.replayRecords.rejection?.reason, "dpop.replayed");
});

test("lets an expired replayRecord be spent again, from the millisecond of its expiry", async (env) => {
  assertEquals(await env.spend(PROOF), true);
  env.now = PROOF.expiresAt - 1;
  assertEquals(await reasonOf(() => env.spend(PROOF)), "dpop.replayed");
  env.now = PROOF.expiresAt;
  const again = { ...PROOF, expiresAt: env.now + 120_000 };
  assertEquals(await env.spend(again), true);
  assertEquals(await reasonOf(() => env.spend(again)), "dpop.replayed");
});

test("tells a conflict of work from a spent replayRecord: false, and the replayRecord stays good", async (env) => {
  const { store } = env;
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["consent"], value: "Consumed" }] });
  const replayRecords = earned(PROOF);
  const tx = begin(replayRecords);
  check(tx, ["consent"], null);
  set(tx, EFFECT, 1);
  assertEquals(await commit(store, () => NOW, tx), false);
  assertEquals(await store.getMany([EFFECT, PROOF.key]), [null, null]);
  assertEquals(replayRecords.pending, [PROOF]);
  const retry = begin(replayRecords); // the caller reads again and decides
  set(retry, EFFECT, 2);
  assertEquals(await commit(store, () => NOW, retry), true);
  assertEquals(replayRecords.pending, []);
});

test("says false, not rejection, where the replayRecord has expired and the work conflicts", async (env) => {
  const { store } = env;
  assertEquals(await env.spend(PROOF), true);
  env.now = PROOF.expiresAt;
  const tx = begin(earned({ ...PROOF, expiresAt: env.now + 1000 }));
  check(tx, EFFECT, null);
  assertEquals(await commit(store, () => env.now, tx), false);
});

test("rejects before it reports a conflict, where both are so", async (env) => {
  assertEquals(await env.spend(PROOF), true);
  const tx = begin(earned(PROOF));
  check(tx, EFFECT, null);
  assertEquals(await reasonOf(() => commit(env.store, () => NOW, tx)), "dpop.replayed");
});

test("lets one of 20 parallel requests with one replayRecord through [CA-N19, DP-N14]", async (env) => {
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => env.spend(PROOF)));
  const through = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value);
  const rejected = outcomes.filter(({ status }) => status === "rejected");
  assertEquals([through.length, rejected.length], [1, 19]);
});

test("lets one of 20 parallel requests with one expired replayRecord through", async (env) => {
  assertEquals(await env.spend(PROOF), true);
  env.now = PROOF.expiresAt;
  const again = { ...PROOF, expiresAt: env.now + 120_000 };
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => env.spend(again)));
  const through = outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value);
  assertEquals(through.length, 1);
});

test("commits different replay records of parallel requests side by side", async (env) => {
  const many = Array.from(
    { length: 20 },
    (_, index): Once => ({ ...PROOF, key: ["spent_jwt", String(index)] }),
  );
  assertEquals(await Promise.all(many.map((replayRecord) => env.spend(replayRecord))), many.map(() => true));
});

test("commits nothing at all without a word", async ({ store }) => {
  assertEquals(await commit(store, () => NOW, begin()), true);
});

test("gives up if its replay records change before every attempt, with 503 and nothing written", async ({ store }) => {
  const expired = { ...PROOF, expiresAt: NOW - 1 };
  let commits = 0;
  // Another process replaces the expired replay record again and again, each time just before this commit.
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
  const rejection = await assertRejects(() => commit(racing, () => NOW, tx), ApiError);
  assertEquals([rejection.reason, rejection.parts.retryAfterSeconds], ["platform.unavailable", 1]);
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
  const rejection = await assertRejects(
    () => untilCommitted("work", () => Promise.resolve(void attempts++)),
    ApiError,
  );
  assertEquals([rejection.reason, rejection.parts.retryAfterSeconds], ["platform.unavailable", 1]);
  assert(attempts > 1 && attempts <= 20, `${attempts} attempts`);
});
