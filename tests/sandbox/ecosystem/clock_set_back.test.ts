/** A clock that is set back, in a sandbox or by NTP, causes no endless wait for a time that was never reached. */
import { assertEquals } from "@std/assert";
import { steadyClock } from "../../../src/base/kernel/clock.ts";
import { openBucketStore } from "../../../src/platform/guards/security/rate_limits.ts";
import { openTestStore } from "testing/test_store.ts";

const HOUR_MS = 3_600_000;

Deno.test("a limit that was reached before the clock was set back is a limit of seconds after it", async () => {
  await using store = await openTestStore();
  let now = Date.now() + HOUR_MS;
  let monotonic = 0;
  const clock = (): number => now;
  const buckets = openBucketStore({ store, clock, steady: steadyClock(clock, () => monotonic) });
  const take = (): Promise<number> => buckets.take(["reads", "x"], { perSecond: 1, burst: 1 });
  assertEquals([await take(), await take()], [0, 1]);
  now -= HOUR_MS;
  const waits = [await take()];
  for (let second = 0; second < 3 && waits.at(-1) !== 0; second++) {
    now += 1000;
    monotonic += 1000;
    waits.push(await take());
  }
  assertEquals([waits.at(-1), waits.every((wait) => wait <= 1)], [0, true], waits.join());
});
