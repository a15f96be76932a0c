/** The clock of the ages of stored values, over restarts and beside other processes. */
import { assertEquals } from "@std/assert";
import { MAX_PROCESS_SKEW_MS, MAX_SKEW_MS } from "../../../src/base/kernel/clock.ts";
import { type AgeClock, openAgeClock } from "../../../src/base/store/age_clock.ts";
import { ageMarkRecord } from "../../../src/base/store/base_records.ts";
import type { Store, Write } from "../../../src/base/store/store.ts";
import { openTestStore } from "testing/test_store.ts";

const START = 1_800_000_000_000;
const KEY = ["age_mark"];

/** A process: its computer's clock, its steady clock, and the alarms that it made. */
interface Process {
  now: number;
  steady: number;
  readonly alarms: number[];
  readonly clock: AgeClock;
}

async function start(store: Store, now = START): Promise<Process> {
  const times = { now, steady: 5000, alarms: [] as number[] };
  const clock = await openAgeClock(store, () => times.now, () => times.steady, (seconds) => {
    times.alarms.push(seconds);
  });
  return Object.assign(times, { clock });
}

async function stored(store: Store): Promise<unknown> {
  const mark = (await ageMarkRecord.get(store, KEY))?.value;
  return mark && [mark.at - START, mark.age];
}

async function write(store: Store, at: number, age: number): Promise<void> {
  const writes: Write[] = [];
  ageMarkRecord.set({ writes }, KEY, { at, age });
  await store.commit({ checks: [], writes });
}

Deno.test("ages go on over a restart by the time that has passed, and are too old if that is unknown", async () => {
  const cases: readonly (readonly [passedMs: number, added: number, behindSeconds: number])[] = [
    [0, 0, 0],
    [7000, 7000, 0],
    [-1, 0, 0],
    [-MAX_SKEW_MS, 0, 0],
    [-MAX_SKEW_MS - 1, 3_600_000, 31],
    [-86_400_000, 3_600_000, 86_400],
  ];
  for (const [passedMs, added, behindSeconds] of cases) {
    await using store = await openTestStore();
    await write(store, START, 100_000);
    const process = await start(store, START + passedMs);
    const { ages } = process.clock;
    assertEquals([ages(), process.clock.behindSeconds], [100_000 + added, behindSeconds], `${passedMs}`);
    process.steady += 10;
    assertEquals(ages(), 100_010 + added);
  }
  const fresh = await start(await openTestStore());
  assertEquals([fresh.clock.ages(), fresh.clock.behindSeconds], [5000, 0]);
});

Deno.test("a mark is stored every 10 s, and never one before a mark that is later", async () => {
  await using store = await openTestStore();
  const process = await start(store);
  const step = async (ms: number): Promise<number> => {
    process.now += ms;
    process.steady += ms;
    return await process.clock.mark();
  };
  assertEquals([await step(0), await stored(store)], [1, [0, 5000]]);
  assertEquals([await step(9999), await stored(store)], [0, [0, 5000]]);
  assertEquals([await step(1), await stored(store)], [1, [10_000, 15_000]]);
  await write(store, START + 20_000, 25_000);
  assertEquals([await step(10_000), await stored(store)], [0, [20_000, 25_000]], "as old as this one");
  await write(store, START + 20_000, 34_999);
  assertEquals([await step(10_000), await stored(store)], [1, [30_000, 35_000]]);
  const raced = await start({
    ...store,
    async commit(staged) { // another process stores a later one since this one has read
      await write(store, START + 50_000, 90_000);
      return await store.commit(staged);
    },
  }, START + 40_000);
  assertEquals([await raced.clock.mark(), await stored(store)], [0, [50_000, 90_000]]);
});

Deno.test("another process's mark that is more than 2 s ahead is told once, until it is not ahead any more", async () => {
  await using store = await openTestStore();
  await write(store, START + 60_000, 1); // it may be old: it tells nothing of the others
  const process = await start(store);
  const markOf = async (aheadMs: number): Promise<readonly number[]> => {
    await write(store, process.now + aheadMs, 1_000_000_000 + process.now - START);
    await process.clock.mark();
    process.now += 1000;
    return process.alarms.splice(0);
  };
  await process.clock.mark();
  process.now -= 50_000; // its own mark is ahead now
  await process.clock.mark();
  assertEquals(process.alarms, []);
  assertEquals(await markOf(MAX_PROCESS_SKEW_MS), []);
  assertEquals(await markOf(MAX_PROCESS_SKEW_MS + 1), [3]);
  await process.clock.mark();
  assertEquals(await markOf(5000), [], "it was told");
  assertEquals(await markOf(0), []);
  assertEquals(await markOf(5000), [5]);
});

Deno.test("a mark is another process's if its time or its age is not that of the own one", async () => {
  for (const [laterMs, olderMs, told] of [[0, 0, []], [0, 1, [50]], [1, 0, [51]]] as const) {
    await using store = await openTestStore();
    const process = await start(store);
    await process.clock.mark();
    process.now -= 50_000;
    await write(store, START + laterMs, 5000 + olderMs);
    await process.clock.mark();
    assertEquals(process.alarms, [...told]);
  }
});
