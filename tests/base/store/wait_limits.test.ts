/** How long a commit may take, with all its waiting and all its repetitions: no engine commits later [M1, LS3]. */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ATTEMPT_WITHIN_MS, COMMIT_WITHIN_MS, monotonicClock } from "../../../src/base/kernel/clock.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import {
  MAX_CONNECTION_WAIT_MS,
  MAX_REFUSALS_MS,
  SERVING,
} from "../../../src/base/store/postgres/connections.ts";
import { MAX_UNKNOWN_RETRY_MS } from "../../../src/base/store/postgres/postgres_store.ts";
import { MAX_COMMIT_WAIT_MS, MAX_LOCK_WAIT_MS } from "../../../src/base/store/sqlite_failure.ts";
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";
import { type Commit, type Store, StoreFailure } from "../../../src/base/store/store.ts";

Deno.test("The last repetition of a commit ends within the time that readers of ordered lists wait, on each engine [M1]", () => {
  assertEquals([ATTEMPT_WITHIN_MS, COMMIT_WITHIN_MS], [10_000, 18_000]);
  const lastTry = MAX_UNKNOWN_RETRY_MS + MAX_CONNECTION_WAIT_MS + MAX_REFUSALS_MS + SERVING.silenceMs;
  assertEquals(lastTry, COMMIT_WITHIN_MS);
  assertEquals(MAX_COMMIT_WAIT_MS + MAX_LOCK_WAIT_MS, 11_000);
  assert(
    SERVING.statementMs < SERVING.silenceMs,
    "the server ends a statement before it is taken for silent",
  );
});

const commitOf = (name: string, checks: Commit["checks"] = []): Commit => ({
  checks,
  writes: [{ kind: "set", key: [name], value: 1 }],
});

const ENGINES: Readonly<Record<string, (path: string) => Promise<Store>>> = {
  kv: openDenoKv,
  sqlite: openSqliteStore,
};

for (const [ending, open] of Object.entries(ENGINES)) {
  Deno.test(`.${ending}: commits behind a lock that stays fail in time, with those behind them, and never happen [M1]`, async () => {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/platform.${ending}`;
    const store = await open(path);
    await store.commit(commitOf("there"));
    const version = (await store.get(["there"]))?.version ?? null;
    const holder = new DatabaseSync(path);
    holder.exec("begin immediate");
    const began = monotonicClock();
    const commits = [
      commitOf("blind"),
      commitOf("checked", [{ key: ["checked"], version: null }]),
      commitOf("there", [{ key: ["there"], version }]),
      commitOf("same"),
      commitOf("same"),
    ];
    await Promise.all(
      commits.map((commit) => assertRejects(() => store.commit(commit), StoreFailure, "database is locked")),
    );
    const took = monotonicClock() - began;
    assert(took >= MAX_LOCK_WAIT_MS && took < COMMIT_WITHIN_MS, `${took} ms`);
    holder.exec("rollback");
    holder.close();
    assertEquals(await store.commit(commitOf("after")), true);
    const found = await store.list({ prefix: [], limit: 9 });
    assertEquals(found.map(({ key }) => key), [["after"], ["there"]]);
    assertEquals((await store.get(["there"]))?.version, version);
    await store.close();
    await Deno.remove(folder, { recursive: true });
  });
}
