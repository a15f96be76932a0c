/** `store/transaction`: replay records ride in the commit of the effect that they guard, over a real store. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Key, Store } from "../../../src/base/store/store.ts";
import { openRequestReads } from "../../../src/base/store/request_reads.ts";
import {
  check,
  commitIfUnchanged,
  commitReplayRecords,
  newReplayRecords,
  type Once,
  remove,
  type ReplayRecords,
  transact,
  transactFor,
  type Transaction,
} from "../../../src/base/store/transaction.ts";

/** Stages a value without a record. */
function set(tx: Transaction, key: Key, value: unknown, expiresAt?: number): void {
  tx.writes.push({ kind: "set", key, value, ...(expiresAt === undefined ? {} : { expiresAt }) });
}

// Deno KV forgets by the computer's clock, so the moving clock starts an hour ahead of it.
const NOW = Date.now() + 3_600_000;
const once = (kind: string, id: string, expiresAt: number, rejection: Once["rejection"]): Once => {
  return { key: ["spent_jwt", `${kind} ${id}`], expiresAt, rejection, fault: { at: "jti", expected: "new" } };
};
const PROOF = once("dpop", "a", NOW + 120_000, "dpop.replayed");
const ASSERTION = once("assertion", "b", NOW + 60_000, "client.not_authenticated");
const EFFECT: Key = ["payment", "1"];

interface Environment {
  store: Store;
  /** Milliseconds. */
  now: number;
  /** Commits `EFFECT` with these replay records pending, as one request would. */
  spend(...replayRecords: readonly Once[]): Promise<boolean>;
  /** Commits staged work in one attempt, or the replay records alone. Returns false after a conflict. */
  commit(replayRecords: ReplayRecords, stage?: (tx: Transaction) => void): Promise<boolean>;
}

function test(promise: string, body: (env: Environment) => Promise<void>): void {
  Deno.test(`transaction ${promise}`, async () => {
    await using store = await openTestStore();
    const env: Environment = {
      store,
      now: NOW,
      async commit(replayRecords, stage): Promise<boolean> {
        const deps = { store: env.store, clock: () => env.now };
        if (stage === undefined) return await commitReplayRecords(deps, replayRecords).then(() => true);
        const request = { reads: openRequestReads(store), replayRecords };
        const options = { what: "work", attempts: 1, lost: () => false };
        return await transactFor(deps, request, options, (tx) => {
          stage(tx);
          return Promise.resolve(true);
        });
      },
      spend(...replayRecords): Promise<boolean> {
        return env.commit(earned(...replayRecords), (tx) => set(tx, EFFECT, replayRecords.length));
      },
    };
    await body(env);
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

test("commits staged sets, removals and checks", async (env) => {
  const { store } = env;
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["old"], value: 1 }] });
  const old = await store.get(["old"]);
  const done = await env.commit(newReplayRecords(), (tx) => {
    check(tx, ["old"], old?.version ?? null);
    check(tx, ["new"], null);
    remove(tx, ["old"]);
    set(tx, ["new"], { n: 2 }, NOW);
  });
  assertEquals(done, true);
  assertEquals(await store.get(["old"]), null);
  assertEquals((await store.get(["new"]))?.value, { n: 2 });
});

test("commitIfUnchanged returns false for a conflict, tries once, and writes nothing", async ({ store }) => {
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["taken"], value: 1 }] });
  let tries = 0;
  const done = await commitIfUnchanged({ store, clock: () => NOW }, (tx) => {
    tries += 1;
    check(tx, ["taken"], null);
    set(tx, EFFECT, "new");
  });
  assertEquals([done, tries, await store.get(EFFECT)], [false, 1, null]);
});

test("spends a replayRecord with the effect, and has none pending afterwards [CA13, DP16]", async (env) => {
  const replayRecords = earned(PROOF, ASSERTION);
  assertEquals(await env.commit(replayRecords, (tx) => set(tx, EFFECT, 1)), true);
  assertEquals(replayRecords.pending, []);
  const spent = await env.store.getMany([PROOF.key, ASSERTION.key, EFFECT]);
  assert(spent.every((entry) => entry !== null));
});

test("lets a later commit of the same request go on without its replayRecords", async (env) => {
  const replayRecords = earned(PROOF);
  assertEquals(await env.commit(replayRecords), true);
  assertEquals(await env.commit(replayRecords, (tx) => set(tx, EFFECT, 2)), true);
  assertEquals((await env.store.get(EFFECT))?.value, 2);
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
  assertEquals(await env.commit(earned(PROOF)), true);
  const records = earned(ASSERTION, PROOF);
  assertEquals(await reasonOf(() => env.commit(records, (tx) => set(tx, EFFECT, "new"))), "dpop.replayed");
  assertEquals(await env.store.getMany([EFFECT, ASSERTION.key]), [null, null]);
  assertEquals(records.pending, [ASSERTION], "the request's end spends it");
  assertEquals(records.rejection?.reason, "dpop.replayed");
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
  const done = await env.commit(replayRecords, (tx) => {
    check(tx, ["consent"], null);
    set(tx, EFFECT, 1);
  });
  assertEquals(done, false);
  assertEquals(await store.getMany([EFFECT, PROOF.key]), [null, null]);
  assertEquals(replayRecords.pending, [PROOF]);
  assertEquals(await env.commit(replayRecords, (tx) => set(tx, EFFECT, 2)), true);
  assertEquals(replayRecords.pending, []);
});

test("says false, not rejection, where the replayRecord has expired and the work conflicts", async (env) => {
  assertEquals(await env.spend(PROOF), true);
  env.now = PROOF.expiresAt;
  const again = earned({ ...PROOF, expiresAt: env.now + 1000 });
  assertEquals(await env.commit(again, (tx) => check(tx, EFFECT, null)), false);
});

test("rejects before it reports a conflict, where both are so", async (env) => {
  assertEquals(await env.spend(PROOF), true);
  assertEquals(
    await reasonOf(() => env.commit(earned(PROOF), (tx) => check(tx, EFFECT, null))),
    "dpop.replayed",
  );
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

test("an attempt that stages no work is not committed, and its replay records stay pending", async (env) => {
  const replayRecords = earned(PROOF);
  assertEquals(await env.commit(replayRecords, () => {}), true);
  assertEquals([replayRecords.pending, await env.store.get(PROOF.key)], [[PROOF], null]);
});

test("gives up if its replay records change before every attempt, with 503 and nothing written", async (env) => {
  const { store } = env;
  const expired = { ...PROOF, expiresAt: NOW - 1 };
  let commits = 0;
  // Another process replaces the expired replay record again and again, each time just before this commit.
  env.store = {
    ...store,
    async commit(staged) {
      commits += 1;
      const value = { expiresAt: expired.expiresAt };
      await store.commit({ checks: [], writes: [{ kind: "set", key: PROOF.key, value }] });
      return await store.commit(staged);
    },
  };
  const rejection = await assertRejects(
    () => env.commit(earned(PROOF), (tx) => set(tx, EFFECT, "new")),
    ApiError,
  );
  assertEquals([rejection.reason, rejection.parts.retryAfterSeconds], ["platform.unavailable", 1]);
  assert(commits <= 20, `${commits} commits`);
  assertEquals(await store.get(EFFECT), null);
});

/** Adds one to `EFFECT`, with the reads of a request that has read it before. */
async function increment(store: Store, between: (attempt: number) => Promise<void>): Promise<number> {
  const request = { reads: openRequestReads(store), replayRecords: newReplayRecords() };
  await request.reads.get(EFFECT);
  let attempts = 0;
  return await transactFor({ store, clock: () => NOW }, request, { what: "work" }, async (tx) => {
    const former = await tx.get<number>(EFFECT);
    await between(++attempts);
    check(tx, EFFECT, former?.version ?? null);
    set(tx, EFFECT, (former?.value ?? 0) + 1);
    return attempts;
  });
}

test("reads again after a lost race, and returns what the attempt that committed returned", async ({ store }) => {
  const overtake = async (attempt: number): Promise<void> => {
    if (attempt > 2) return;
    await store.commit({ checks: [], writes: [{ kind: "set", key: EFFECT, value: attempt * 10 }] });
  };
  assertEquals(await increment(store, overtake), 3);
  assertEquals((await store.get(EFFECT))?.value, 21);
});

test("loses no increment of 20 parallel requests within its bound", async ({ store }) => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => increment(store, () => Promise.resolve())),
  );
  const done = outcomes.filter(({ status }) => status === "fulfilled").length;
  assertEquals((await store.get(EFFECT))?.value, done);
});

test("the first attempt reads what the request has read, without a round trip", async ({ store }) => {
  let trips = 0;
  const counted: Store = { ...store, getMany: (keys) => (trips++, store.getMany(keys)) };
  await increment(counted, () => Promise.resolve());
  assertEquals(trips, 1);
});

test("after a commit the request reads afresh", async ({ store }) => {
  const request = { reads: openRequestReads(store), replayRecords: newReplayRecords() };
  assertEquals(await request.reads.get(EFFECT), null);
  await transactFor({ store, clock: () => NOW }, request, { what: "work" }, (tx) => {
    set(tx, EFFECT, 1);
    return Promise.resolve();
  });
  assertEquals((await request.reads.get(EFFECT))?.value, 1);
});

test("gives up after a bounded number of attempts, with 503", async ({ store }) => {
  let attempts = 0;
  const losing: Store = { ...store, commit: () => Promise.resolve(false) };
  const attempt = (tx: Transaction): Promise<void> => {
    attempts += 1;
    set(tx, EFFECT, 1);
    return Promise.resolve();
  };
  const deps = { store: losing, clock: () => NOW };
  const rejection = await assertRejects(() => transact(deps, { what: "work" }, attempt), ApiError);
  assertEquals([rejection.reason, rejection.parts.retryAfterSeconds], ["platform.unavailable", 1]);
  assert(attempts > 1 && attempts <= 20, `${attempts} attempts`);
});

test("is not committed by an attempt that took more than 10 s, whose times are too old for lists [LS3]", async (env) => {
  const clockNow = performance.now;
  const deps = { store: env.store, clock: () => env.now };
  const late = (milliseconds: number) => (tx: Transaction): Promise<boolean> => {
    set(tx, EFFECT, "made");
    performance.now = () => clockNow.call(performance) + milliseconds;
    return Promise.resolve(true);
  };
  try {
    const error = await assertRejects(() => transact(deps, { what: "work" }, late(10_050)), ApiError);
    assertEquals(error.reason, "platform.unavailable");
  } finally {
    performance.now = clockNow;
  }
  assertEquals(await env.store.get(EFFECT), null);
  try {
    assert(await transact(deps, { what: "work" }, late(5000)));
  } finally {
    performance.now = clockNow;
  }
  assertEquals((await env.store.get(EFFECT))?.value, "made");
});

test("takes no work of an attempt that has ended: a use case that does not await it fails", async ({ store }) => {
  const ended: Transaction[] = [];
  await transact({ store, clock: () => NOW }, { what: "work" }, (tx) => {
    set(tx, EFFECT, 1);
    ended.push(tx);
    return Promise.resolve();
  });
  for (const tx of ended) {
    for (
      const late of [
        () => remove(tx, EFFECT),
        () => check(tx, EFFECT, null),
        () => tx.onCommit.push(() => {}),
      ]
    ) {
      assertThrows(late, TypeError);
    }
  }
  assertEquals((await store.get(EFFECT))?.value, 1);
});
