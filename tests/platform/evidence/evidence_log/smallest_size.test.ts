/** The smallest size that checkpoints of later hours sign, by which a case's age is judged (contract EN15). */
import { assertEquals } from "@std/assert";
import { logCheckpointRecord } from "../../../../src/platform/evidence/evidence_log/log_records.ts";
import { openLogStore } from "../../../../src/platform/evidence/evidence_log/log_store.ts";
import { logCheckpointKey } from "../../../../src/platform/config/store_keys.ts";
import type { Write } from "../../../../src/base/store/store.ts";
import { openTestStore } from "testing/test_store.ts";

const HOUR_MS = 3_600_000;

Deno.test("the cases of a pass read the checkpoints of years once, and a new hour reads them again [EN15]", async () => {
  await using store = await openTestStore();
  const writes: Write[] = [];
  for (const [hour, size] of [[1, 10], [2, 20], [3, 15], [4, 40]] as const) {
    const checkpoint = `e30.${btoa(JSON.stringify({ size })).replaceAll("=", "")}.c2ln`;
    logCheckpointRecord.set({ writes }, logCheckpointKey(hour * HOUR_MS), { checkpoint });
  }
  await store.commit({ checks: [], writes });
  let lists = 0;
  const log = openLogStore({
    ...store,
    list(selection) {
      lists++;
      return store.list(selection);
    },
  });
  const at = [1, HOUR_MS + 1, HOUR_MS + 2, 2 * HOUR_MS - 1, 3 * HOUR_MS, 9 * HOUR_MS, 9 * HOUR_MS];
  const sizes: number[] = [];
  for (const time of at) sizes.push(await log.smallestSizeAfter(time));
  assertEquals(sizes, [10, 15, 15, 15, 40, Infinity, Infinity]);
  assertEquals(lists, 5, "two of them have found none, which may change");
});
