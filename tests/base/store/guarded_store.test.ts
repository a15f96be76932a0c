/** How a guarded store reports failures: one error for its callers, one log line per change, readiness by outcomes. */
import { assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { type GuardedStore, guardStore, measureStore } from "../../../src/base/store/guarded_store.ts";
import { type Commit, type FailureScope, StoreFailure } from "../../../src/base/store/store.ts";

Deno.test("guarded store rejects with store.unavailable and Retry-After, whichever verb fails", async () => {
  await using guarded = await openGuarded();
  guarded.failWith("disk I/O error");
  const { store } = guarded;
  const verbs = [
    () => store.get(["a"]),
    () => store.getMany([["a"]]),
    () => store.list({ prefix: ["a"], limit: 1 }),
    () => store.commit(WRITE),
  ];
  for (const verb of verbs) {
    const { reason, parts } = await assertRejects(verb, ApiError);
    assertEquals([reason, parts.retryAfterSeconds, parts.detail], ["store.unavailable", 5, "disk I/O error"]);
  }
  assertEquals(guarded.events, ["failing: disk I/O error"]);
});

Deno.test("guarded store leaves faults of the program as they are", async () => {
  await using guarded = await openGuarded();
  const writes = [{ kind: "set", key: ["a"], value: "x".repeat(70_000) } as const];
  await assertRejects(() => guarded.store.commit({ checks: [], writes }), TypeError);
  assertEquals(guarded.events, []);
});

Deno.test("guarded store counts a connection that fails again as the database, and a statement not", async () => {
  for (const [scope, events] of [["statement", []], ["connection", ["failing: no answer"]]] as const) {
    await using guarded = await openGuarded();
    guarded.failWith("no answer", undefined, scope);
    const { reason } = await assertRejects(() => guarded.store.commit(WRITE), ApiError);
    assertEquals([reason, guarded.events, guarded.store.isFailing()], [
      "store.unavailable",
      [...events],
      scope === "connection",
    ]);
  }
});

Deno.test("guarded store that fails now and then has one line until it has not failed for 5 s", async () => {
  await using guarded = await openGuarded();
  for (let round = 0; round < 3; round++) {
    guarded.failWith("database or disk is full");
    await assertRejects(() => guarded.store.commit(WRITE), ApiError);
    guarded.mend();
    guarded.pass(2000);
    await guarded.store.commit(WRITE);
    assertEquals(await guarded.store.isWorking(), false);
  }
  for (const [ms, isFailing] of [[2999, true], [1, false]] as const) {
    guarded.pass(ms);
    await guarded.store.commit(WRITE);
    assertEquals(guarded.store.isFailing(), isFailing);
  }
  assertEquals(guarded.events, ["failing: database or disk is full", "working after 9 s"]);
});

Deno.test("guarded store without requests notices that it cannot be written, and that it can again", async () => {
  await using guarded = await openGuarded();
  assertEquals(await guarded.store.isWorking(), true);
  guarded.failWith("database or disk is full", "writes");
  guarded.pass(9999);
  assertEquals(await guarded.store.isWorking(), true); // the last write is recent enough
  guarded.pass(1);
  assertEquals(await guarded.store.isWorking(), false);
  guarded.mend();
  guarded.pass(6000);
  assertEquals(await guarded.store.isWorking(), true);
});

Deno.test("guarded store is tried once a second at most, with a value that does not grow", async () => {
  await using guarded = await openGuarded();
  guarded.failWith("database or disk is full", "writes");
  for (let asked = 0; asked <= 40; asked++) {
    assertEquals(await guarded.store.isWorking(), false);
    guarded.pass(100);
  }
  assertEquals(guarded.commits.length, 5);
  assertEquals(new Set(guarded.commits.map((commit) => JSON.stringify(commit))).size, 1);
});

Deno.test("guarded store does not count a failed check as a write", async () => {
  await using guarded = await openGuarded();
  await guarded.store.commit(WRITE);
  guarded.pass(10_000);
  const stale = { checks: [{ key: ["a"], version: null }], writes: [] };
  assertEquals(await guarded.store.commit(stale), false);
  guarded.failWith("database or disk is full", "writes");
  assertEquals(await guarded.store.isWorking(), false);
});

Deno.test("a measured store reports each call with its seconds and whether it succeeded", async () => {
  const kv = await openDenoKv(":memory:");
  const calls: unknown[] = [];
  let now = 0;
  const store = measureStore(kv, () => now += 250, (...call) => calls.push(call));
  await store.commit(WRITE);
  assertEquals((await store.get(["a"]))?.value, 1);
  assertEquals((await store.getMany([["a"], ["b"]])).map((entry) => entry?.value), [1, undefined]);
  assertEquals((await store.list({ prefix: ["a"], limit: 1 })).length, 0);
  await assertRejects(() => store.commit({ checks: [], writes: [{ kind: "set", key: [], value: 1n }] }));
  await store.close();
  await assertRejects(() => store.get(["a"]));
  assertEquals(calls, [
    ["commit", 0.25, true],
    ["get", 0.25, true],
    ["get_many", 0.25, true],
    ["list", 0.25, true],
    ["commit", 0.25, false],
    ["get", 0.25, false],
  ]);
});

const WRITE: Commit = { checks: [], writes: [{ kind: "set", key: ["a"], value: 1 }] };

interface Guarded extends AsyncDisposable {
  readonly store: GuardedStore;
  readonly events: string[];
  /** As they reached the database. */
  readonly commits: Commit[];
  failWith(why: string, what?: "writes", scope?: FailureScope): void;
  mend(): void;
  pass(milliseconds: number): void;
}

/** A guarded database that fails when it is told to, and a time that passes when it is told to. */
async function openGuarded(): Promise<Guarded> {
  const kv = await openDenoKv(":memory:");
  const [events, commits]: [string[], Commit[]] = [[], []];
  let scope: FailureScope | undefined;
  let [now, why, what]: [number, string | undefined, string | undefined] = [0, undefined, undefined];
  const failing =
    <A extends unknown[], T>(verb: (...args: A) => Promise<T>, writes: boolean) => (...args: A) =>
      why === undefined || (what === "writes" && !writes)
        ? verb(...args)
        : Promise.reject(new StoreFailure(why, scope));
  const database = {
    ...kv,
    get: failing(kv.get, false) as typeof kv.get,
    getMany: failing(kv.getMany, false) as typeof kv.getMany,
    list: failing(kv.list, false) as typeof kv.list,
    commit: (commit: Commit) => {
      commits.push(commit);
      return failing(kv.commit, true)(commit);
    },
  };
  const store = guardStore(database, {
    elapsed: () => now,
    failing: (because) => events.push(`failing: ${because}`),
    working: (seconds) => events.push(`working after ${seconds} s`),
  });
  return {
    store,
    events,
    commits,
    failWith: (because, only, of) => void ([why, what, scope] = [because, only, of]),
    mend: () => void (why = undefined),
    pass: (milliseconds) => void (now += milliseconds),
    [Symbol.asyncDispose](): Promise<void> {
      kv.close();
      return Promise.resolve();
    },
  };
}
