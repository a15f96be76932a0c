/** Commits wait in bounded turns, so that a database that is locked or broken does not hold up every request. */
import { assertEquals, assertRejects } from "@std/assert";
import { StoreFailure } from "../../../src/base/store/store.ts";
import { openTurns } from "../../../src/base/store/group_commits.ts";

Deno.test("turns run at most so many at once, in order", async () => {
  const turns = openTurns({ atOnce: 2, patienceMs: 60_000 });
  const [first, second, third] = [work(), work(), work()];
  const done = [first, second, third].map(({ run }) => turns.run(run));
  await begin();
  assertEquals([first.begun, second.begun, third.begun], [true, true, false]);
  second.end.resolve("second");
  assertEquals(await done[1], "second");
  await begin();
  assertEquals([first.begun, third.begun], [true, true]);
  first.end.resolve("first");
  third.end.resolve("third");
  assertEquals(await Promise.all(done), ["first", "second", "third"]);
});

Deno.test("turns fail those who wait as soon as one fails, without running them", async () => {
  const turns = openTurns({ atOnce: 1, patienceMs: 60_000 });
  const [first, second] = [work(), work()];
  const failed = assertRejects(() => turns.run(first.run), StoreFailure, "disk I/O error");
  const waited = assertRejects(() => turns.run(second.run), StoreFailure, "disk I/O error");
  first.end.reject(new StoreFailure("disk I/O error"));
  await Promise.all([failed, waited]);
  assertEquals(second.begun, false);
});

Deno.test("turns run those who wait as before if one statement or one connection fails", async () => {
  for (const scope of ["statement", "connection"] as const) {
    const turns = openTurns({ atOnce: 2, patienceMs: 60_000 });
    const all = [work(), work(), work(), work()];
    const [failed, ...done] = all.map(({ run }) => turns.run(run));
    await begin();
    all[0]?.end.reject(new StoreFailure("deadlock detected", scope));
    await assertRejects(() => failed ?? Promise.resolve(), StoreFailure, "deadlock detected");
    await begin();
    assertEquals(all.map(({ begun }) => begun), [true, true, true, false], scope);
    all[1]?.end.resolve("second");
    await begin();
    assertEquals(all.map(({ begun }) => begun), [true, true, true, true], scope);
    for (const { end } of all) end.resolve("done");
    assertEquals(await Promise.all(done), ["second", "done", "done"]);
  }
});

Deno.test("turns let one try at a time after a failure, and all after a success", async () => {
  const turns = openTurns({ atOnce: 2, patienceMs: 60_000 });
  await assertRejects(() => turns.run(() => Promise.reject(new StoreFailure("disk I/O error"))));
  const [trial, second, third] = [work(), work(), work()];
  const done = [trial, second, third].map(({ run }) => turns.run(run));
  await begin();
  assertEquals([trial.begun, second.begun, third.begun], [true, false, false]);
  trial.end.resolve("trial");
  await done[0];
  await begin();
  assertEquals([second.begun, third.begun], [true, true]);
  second.end.resolve("");
  third.end.resolve("");
  await Promise.all(done);
});

Deno.test("turns do not wait for an attempt that takes long after a failure", async () => {
  const turns = openTurns({ atOnce: 2, patienceMs: 60_000 });
  await assertRejects(() => turns.run(() => Promise.reject(new StoreFailure("database is locked"))));
  const [trial, other] = [work(), work()];
  const tried = turns.run(trial.run);
  await assertRejects(() => turns.run(other.run), StoreFailure, "database is locked");
  assertEquals(other.begun, false);
  trial.end.resolve("trial");
  assertEquals(await tried, "trial");
});

Deno.test("turns do not keep anybody waiting beyond their patience, and lose no turn to it", async () => {
  const turns = openTurns({ atOnce: 1, patienceMs: 20 });
  const [slow, late, next] = [work(), work(), work()];
  const done = turns.run(slow.run);
  await assertRejects(() => turns.run(late.run), StoreFailure, "no turn to write within 0.02 s");
  slow.end.resolve("slow");
  assertEquals([await done, late.begun], ["slow", false]);
  next.end.resolve("next");
  assertEquals(await turns.run(next.run), "next");
});

Deno.test("turns take an error of the program for no failure of the database", async () => {
  const turns = openTurns({ atOnce: 1, patienceMs: 60_000 });
  const [first, second] = [work(), work()];
  const failed = assertRejects(() => turns.run(first.run), TypeError);
  const waited = turns.run(second.run);
  first.end.reject(new TypeError("Value too large"));
  await failed;
  second.end.resolve("second");
  assertEquals(await waited, "second");
});

/** Lets begin what has its turn. */
function begin(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

interface Work {
  begun: boolean;
  readonly end: PromiseWithResolvers<string>;
  readonly run: () => Promise<string>;
}

/** Work that ends when the test says so. */
function work(): Work {
  const end = Promise.withResolvers<string>();
  const self: Work = {
    begun: false,
    end,
    run: () => {
      self.begun = true;
      return end.promise;
    },
  };
  return self;
}
