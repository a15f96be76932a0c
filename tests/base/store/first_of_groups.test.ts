/** How much a list of the first entries of groups reads. What it finds: store_contract.ts. */
import { assertEquals } from "@std/assert";
import { firstOfGroups } from "../../../src/base/store/first_of_groups.ts";
import type { Store } from "../../../src/base/store/store.ts";

Deno.test("unwanted groups are passed over with one read each, 10,000 at most, and wanted ones up to their limit", async () => {
  for (
    const [wantedAt, maxGroups, reads] of [[[], 2, 10_000], [[3, 9_000], 3, 10_002], [
      [3, 9_000],
      2,
      9_000,
    ]] as const
  ) {
    const limits: number[] = [];
    const list: Store["list"] = ({ limit, after = ["p", "0"] }) => {
      limits.push(limit);
      const next = String(Number(after[1]) + 1);
      return Promise.resolve([{ key: ["p", next, "a"], value: 1 as never, version: "1" }]);
    };
    const wanted: readonly number[] = wantedAt;
    const isWanted = ([, group]: readonly string[]): boolean => wanted.includes(Number(group));
    const { entries, isComplete } = await firstOfGroups(
      { list },
      { prefix: ["p"], parts: 1, perGroup: 1, maxGroups, isWanted },
    );
    assertEquals([entries.map(({ key }) => Number(key[1])), isComplete], [[...wanted], false]);
    assertEquals([limits.length, new Set(limits)], [reads, new Set([2])]);
  }
});
