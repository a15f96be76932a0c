/** Clocks for ages and waits, and deadlines from the future. */
import { assertEquals } from "@std/assert";
import { type Clock, isYetToPass, steadyClock, type WallTime } from "../../../src/base/kernel/clock.ts";

const HOUR_MS = 3_600_000;

Deno.test("a steady clock follows its clock ahead, never back, and goes on while that is behind", () => {
  let [now, monotonic] = [1000, 50];
  const steady = steadyClock(() => now, () => monotonic);
  const moved = (byNow: number, byMonotonic: number): number => {
    now += byNow;
    monotonic += byMonotonic;
    return steady();
  };
  assertEquals(moved(0, 0), 1000);
  assertEquals(moved(10, 10), 1010);
  assertEquals(moved(HOUR_MS, 0), 1010 + HOUR_MS, "a step ahead, or a computer that has slept");
  assertEquals(moved(-HOUR_MS, 5), 1015 + HOUR_MS, "a step back: the time that has passed counts");
  assertEquals(moved(100, 120), 1135 + HOUR_MS, "a clock that is slowed down");
  assertEquals(moved(2 * HOUR_MS, 0), 1110 + 2 * HOUR_MS, "a clock that has caught up");
});

Deno.test("a deadline further ahead than it can have been set counts as passed", () => {
  const left = [0, 1, 60_000, 90_000, 90_001, HOUR_MS];
  assertEquals(left.map((ms) => isYetToPass(1000 + ms, 1000, 60)), [
    false,
    true,
    true,
    true,
    false,
    false,
  ]);
});

Deno.test("the compiler takes no clock or instant for another's", () => {
  const steady = steadyClock(() => 1000, () => 0);
  // @ts-expect-error a steady clock is no wall clock
  const clock: Clock = steady;
  // @ts-expect-error a steady instant is no time that may be stored
  const at: WallTime = steady();
  assertEquals([clock(), at], [1000, 1000]);
});
