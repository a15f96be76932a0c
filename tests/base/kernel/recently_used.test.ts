/** A value is read once for all who ask within its time, and a failed read is not kept. */
import { assertEquals, assertRejects } from "@std/assert";
import type { SteadyTime } from "../../../src/base/kernel/clock.ts";
import { keepFor } from "../../../src/base/kernel/recently_used.ts";

Deno.test("a kept value is read again when it is as old as it may be, forgotten, or was never read", async () => {
  let [now, reads, fails] = [0, 0, false];
  const kept = keepFor(1000, () => now as SteadyTime, () => {
    reads++;
    return fails ? Promise.reject(new Error("no answer")) : Promise.resolve(reads);
  });
  assertEquals(await Promise.all([kept.get(), kept.get()]), [1, 1]);
  now = 999;
  assertEquals(await kept.get(), 1);
  now = 1000;
  assertEquals(await kept.get(), 2);
  kept.forget();
  assertEquals(await kept.get(), 3);
  fails = true;
  now = 2000;
  const both = [kept.get(), kept.get()];
  for (const one of both) await assertRejects(() => one, Error, "no answer");
  assertEquals(reads, 4);
  fails = false;
  assertEquals(await kept.get(), 5);
});
