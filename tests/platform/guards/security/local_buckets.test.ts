/** The rate limit before authentication: its memory is bounded, and a full memory does not lift the limit of a caller. */
import { assert, assertEquals } from "@std/assert";
import { openLocalBuckets } from "../../../../src/platform/guards/security/rate_limits.ts";

const POLICY = { perSecond: 1, burst: 2 };

Deno.test("a caller stays limited while 60,000 other callers fill the buckets", async () => {
  const buckets = openLocalBuckets(() => 0);
  const take = (caller: string): Promise<number> | number => buckets.take(["tokens", caller], POLICY);
  assertEquals([await take("one"), await take("one")], [0, 0]);
  for (let n = 0; n < 60_000; n++) {
    await take(`other ${n}`);
    if (n % 10_000 === 0) assert(await take("one") > 0, `after ${n} others`);
  }
});
