/** Background work that fails waits longer and longer, goes on afterwards, and does not log a failing store again. */
import { assert, assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import { openLog } from "../../../src/base/observability/log.ts";
import { backgroundWork } from "../../../src/platform/process/background_work.ts";

const EVERY_MS = 10;

Deno.test("background work waits twice as long after each failure, and as before after a success", async () => {
  const { passes } = await run(new ApiError("store.unavailable"), 4);
  const waits = passes.slice(1).map((at, index) => at - (passes[index] ?? 0));
  for (const [index, factor] of [2, 4, 8, 16].entries()) {
    assert((waits[index] ?? 0) >= factor * EVERY_MS - 2, `${waits}`); // timers count whole milliseconds
  }
  assert(Math.min(...waits.slice(4)) < 16 * EVERY_MS, `${waits}`);
});

Deno.test("background work logs a failure of its own, but not one of the store, which the store logs once", async () => {
  assertEquals((await run(new ApiError("store.unavailable"), 3)).events, []);
  assertEquals((await run(new Error("a bug"), 3)).events, ["work.failed", "work.failed", "work.failed"]);
});

Deno.test("jobs begin together, so that their reads share a statement, and one that hangs delays no other", async () => {
  const events: string[] = [];
  const enough = Promise.withResolvers<void>();
  const job = (name: string) => async (): Promise<number> => {
    events.push(name);
    await Promise.resolve();
    events.push(`${name} goes on`);
    if (events.filter((event) => event === name).length === 2) enough.resolve();
    return 0;
  };
  const released = Promise.withResolvers<number>();
  const hanging = (): Promise<number> => (events.push("hangs"), released.promise);
  const log = openLog({ clock: Date.now, sink: () => {}, level: "debug" });
  const work = backgroundWork([job("a"), hanging, job("b")], () => Promise.resolve(), log, EVERY_MS);
  work.startWork();
  await enough.promise;
  const beat = ["a", "b", "a goes on", "b goes on"];
  assertEquals(events.slice(0, 8), ["a", "hangs", ...beat.slice(1), ...beat.slice(0, 3)]);
  released.resolve(0);
  await work.stop();
});

Deno.test("one occasion of background work runs each job until it finds no more, and none twice after a failure", async () => {
  const events: string[] = [];
  const sink = (line: string): void => void events.push((JSON.parse(line) as LogLine).event);
  const log = openLog({ clock: Date.now, sink, level: "debug" });
  const passes: Record<string, number> = { some: 0, endless: 0, failing: 0 };
  const job = (name: string, answer: (pass: number) => number) => (): Promise<number> =>
    Promise.try(() => answer(passes[name] = (passes[name] ?? 0) + 1));
  const jobs = [
    job("some", (pass) => 3 - pass),
    job("endless", () => 1),
    job("failing", () => {
      throw new Error("a bug");
    }),
  ];
  let settled = 0;
  const work = backgroundWork(jobs, () => Promise.resolve(settled += 1), log, EVERY_MS);
  await work.workOnce();
  assertEquals([passes, settled, events], [{ some: 3, endless: 100, failing: 1 }, 1, ["work.failed"]]);
  await work.stop();
  await work.workOnce();
  assertEquals(passes, { some: 3, endless: 100, failing: 1 });
});

/** The times of the passes of a job that fails so often and then succeeds a few times, and what was logged. */
async function run(error: Error, failures: number): Promise<{ passes: number[]; events: string[] }> {
  const [passes, events]: [number[], string[]] = [[], []];
  const enough = Promise.withResolvers<void>();
  const job = (): Promise<number> => {
    passes.push(performance.now());
    if (passes.length === failures + 5) enough.resolve();
    return passes.length <= failures ? Promise.reject(error) : Promise.resolve(0);
  };
  const log = openLog({
    clock: Date.now,
    sink: (line) => events.push((JSON.parse(line) as LogLine).event),
    level: "debug",
  });
  const work = backgroundWork([job], () => Promise.resolve(), log, EVERY_MS);
  work.startWork();
  await enough.promise;
  await work.stop();
  return { passes, events };
}

Deno.test("background work that stops waits for an occasion under way, and for no other begins a job", async () => {
  const pass = Promise.withResolvers<number>();
  let [passes, isStopped] = [0, false];
  const log = openLog({ clock: Date.now, sink: () => {}, level: "debug" });
  const work = backgroundWork([() => (passes++, pass.promise)], () => Promise.resolve(), log);
  const occasion = work.workOnce();
  const stop = work.stop().then(() => isStopped = true);
  await new Promise((resolve) => setTimeout(resolve, 0)); // a stop that does not wait has ended by then
  assertEquals(isStopped, false);
  pass.resolve(1);
  await Promise.all([stop, occasion, work.workOnce()]);
  assertEquals(passes, 1);
});

Deno.test("background work that stops waits for what a pass leaves running that ends only then", async () => {
  const [pass, left] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const underWay = new Set<Promise<void>>();
  const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const job = async (): Promise<number> => {
    began.resolve();
    await pass.promise;
    underWay.add(left.promise);
    ended.resolve();
    return 0;
  };
  const log = openLog({ clock: Date.now, sink: () => {}, level: "debug" });
  const work = backgroundWork([job], () => Promise.all(underWay), log, EVERY_MS);
  work.startWork();
  await began.promise;
  let isStopped = false;
  const stop = work.stop().then(() => isStopped = true);
  pass.resolve(0);
  await ended.promise;
  await new Promise((resolve) => setTimeout(resolve, 0)); // a stop that does not wait has ended by then
  assertEquals(isStopped, false);
  left.resolve();
  await stop;
});
