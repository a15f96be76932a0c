/** The commits that wait are bounded, so that a database that is locked or broken does not hold up every request. */
import { assertEquals, assertRejects } from "@std/assert";
import { StoreFailure } from "../../../src/base/store/store.ts";
import { openConcurrencyLimit } from "../../../src/base/store/group_commits.ts";

Deno.test("a concurrency limit runs at most so many at once, in order", async () => {
  const limit = openConcurrencyLimit({ atOnce: 2, maxWaitMs: 60_000 });
  const [first, second, third] = [work(), work(), work()];
  const done = [first, second, third].map(({ run }) => limit.run(run));
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

Deno.test("a concurrency limit fails those who wait as soon as one fails, without running them", async () => {
  const limit = openConcurrencyLimit({ atOnce: 1, maxWaitMs: 60_000 });
  const [first, second] = [work(), work()];
  const failed = assertRejects(() => limit.run(first.run), StoreFailure, "disk I/O error");
  const waited = assertRejects(() => limit.run(second.run), StoreFailure, "disk I/O error");
  first.end.reject(new StoreFailure("disk I/O error"));
  await Promise.all([failed, waited]);
  assertEquals(second.begun, false);
  const next = work();
  next.end.resolve("next");
  assertEquals(await limit.run(next.run), "next", "no place is lost to those that failed");
});

Deno.test("a concurrency limit gives each place that becomes free to another one that waits, and its timer ends", async () => {
  const timers = new Set<unknown>();
  const { setTimeout: start, clearTimeout: end } = globalThis;
  const watched = (...args: Parameters<typeof start>): ReturnType<typeof start> => {
    const timer = start(...args);
    timers.add(timer);
    return timer;
  };
  const ended = (timer: Parameters<typeof end>[0]): void => void (timers.delete(timer), end(timer));
  const limit = openConcurrencyLimit({ atOnce: 2, maxWaitMs: 60_000 });
  const all = Array.from({ length: 5 }, work);
  Object.assign(globalThis, { setTimeout: watched, clearTimeout: ended });
  try {
    const done = all.map(({ run }) => limit.run(run));
    all[0]?.end.resolve("");
    all[1]?.end.resolve("");
    await Promise.all(done.slice(0, 2));
    for (let turn = 0; turn < 9; turn++) await Promise.resolve();
    assertEquals([all.map(({ begun }) => begun), timers.size], [[true, true, true, true, false], 1]);
    for (const { end } of all) end.resolve("");
    await Promise.all(done);
    assertEquals([all.at(-1)?.begun, timers.size], [true, 0]);
  } finally {
    Object.assign(globalThis, { setTimeout: start, clearTimeout: end });
  }
});

Deno.test("a concurrency limit runs those who wait as before if one statement or one connection fails", async () => {
  for (const scope of ["statement", "connection"] as const) {
    const limit = openConcurrencyLimit({ atOnce: 2, maxWaitMs: 60_000 });
    const all = [work(), work(), work(), work()];
    const [failed, ...done] = all.map(({ run }) => limit.run(run));
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

Deno.test("a concurrency limit lets one try at a time after a failure, and all after a success", async () => {
  const limit = openConcurrencyLimit({ atOnce: 2, maxWaitMs: 60_000 });
  await assertRejects(() => limit.run(() => Promise.reject(new StoreFailure("disk I/O error"))));
  const [trial, second, third] = [work(), work(), work()];
  const done = [trial, second, third].map(({ run }) => limit.run(run));
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

Deno.test("a concurrency limit does not wait for an attempt that takes long after a failure", async () => {
  const limit = openConcurrencyLimit({ atOnce: 2, maxWaitMs: 60_000 });
  await assertRejects(() => limit.run(() => Promise.reject(new StoreFailure("database is locked"))));
  const [trial, other] = [work(), work()];
  const tried = limit.run(trial.run);
  const { setTimeout: start } = globalThis;
  const waits: unknown[] = [];
  Object.assign(globalThis, {
    setTimeout: (next: () => void, ms: number) => {
      waits.push(ms);
      queueMicrotask(next);
    },
  });
  const refused = assertRejects(() => limit.run(other.run), StoreFailure, "database is locked");
  Object.assign(globalThis, { setTimeout: start });
  await refused;
  assertEquals([waits, other.begun], [[500], false]);
  trial.end.resolve("trial");
  assertEquals(await tried, "trial");
});

Deno.test("a concurrency limit lets no work wait for longer than it says, and loses no place to it", async () => {
  const limit = openConcurrencyLimit({ atOnce: 1, maxWaitMs: 20 });
  const [slow, late, next] = [work(), work(), work()];
  const done = limit.run(slow.run);
  await assertRejects(() => limit.run(late.run), StoreFailure, "no turn to write within 0.02 s");
  slow.end.resolve("slow");
  assertEquals([await done, late.begun], ["slow", false]);
  next.end.resolve("next");
  assertEquals(await limit.run(next.run), "next");
});

Deno.test("a concurrency limit takes an error of the program for no failure of the database", async () => {
  const limit = openConcurrencyLimit({ atOnce: 1, maxWaitMs: 60_000 });
  const [first, second] = [work(), work()];
  const failed = assertRejects(() => limit.run(first.run), TypeError);
  const waited = limit.run(second.run);
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
