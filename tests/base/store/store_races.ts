/** The part of the storage contract about commits and reads side by side. */
import { assertEquals } from "@std/assert";
import type { Key } from "../../../src/base/store/store.ts";
import { present, put, values, write } from "./contract_helpers.ts";
import type { Register } from "./store_contract.ts";

/** Registers it. */
export function testRaces(test: Register): void {
  test("lets exactly one of 40 parallel commits of one claim win [FAPI-G19]", async (store) => {
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) =>
      store.commit({
        checks: [{ key: ["claim"], version: null }],
        writes: [put(["claim"], index), put(["effect", String(index)], index)],
      })));
    assertEquals(outcomes.filter((won) => won).length, 1);
    const winner = outcomes.indexOf(true);
    assertEquals((await store.get(["claim"]))?.value, winner);
    assertEquals(values(await store.list({ prefix: ["effect"], limit: 100 })), [winner]);
  });

  test("loses no increment of 20 parallel writers that check the version", async (store) => {
    await write(store, put(["count"], 0));
    const increment = async (): Promise<void> => {
      for (;;) {
        const { value, version } = present(await store.get<number>(["count"]));
        if (
          await store.commit({ checks: [{ key: ["count"], version }], writes: [put(["count"], value + 1)] })
        ) return;
      }
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    assertEquals((await store.get(["count"]))?.value, 20);
  });

  test("lets one of two commits win that each require what the other changes, or creates", async (store) => {
    for (let round = 0; round < 20; round++) {
      const [left, right] = [["skew", `${round} left`], ["skew", `${round} right`]] as const;
      const creating = await Promise.all([
        store.commit({ checks: [{ key: left, version: null }], writes: [put(right, "first")] }),
        store.commit({ checks: [{ key: right, version: null }], writes: [put(left, "first")] }),
      ]);
      assertEquals(creating.filter((won) => won).length, 1);
      await write(store, put(left, "both"), put(right, "both"));
      const versions = (await store.getMany([left, right])).map((entry) => present(entry).version);
      const changing = await Promise.all([
        store.commit({ checks: [{ key: left, version: versions[0] ?? "" }], writes: [put(right, "second")] }),
        store.commit({ checks: [{ key: right, version: versions[1] ?? "" }], writes: [put(left, "second")] }),
      ]);
      assertEquals(changing.filter((won) => won).length, 1);
    }
  });

  test("moves amounts between ten entries in every order at once, and none is lost", async (store) => {
    const keys: Key[] = Array.from({ length: 10 }, (_, index) => ["account", String(index)]);
    await write(store, ...keys.map((key) => put(key, 100)));
    const move = async (from: Key, to: Key): Promise<void> => {
      for (;;) {
        const [source, target] = (await store.getMany<number>([from, to])).map(present);
        if (source === undefined || target === undefined) throw new Error("the entries are gone");
        const checks = [source, target].map(({ key, version }) => ({ key, version }));
        const writes = [put(from, source.value - 1), put(to, target.value + 1)];
        if (await store.commit({ checks, writes })) return;
      }
    };
    const pairs = keys.flatMap((from) => keys.filter((to) => to !== from).map((to) => [from, to] as const));
    await Promise.all(pairs.map(([from, to]) => move(from, to)));
    assertEquals(values(await store.getMany(keys)), keys.map(() => 100));
  });

  test("shows readers the whole of a commit or nothing of it", async (store) => {
    const pair: Key[] = [["left"], ["right"]];
    await write(store, ...pair.map((key) => put(key, 0)));
    const writer = async (): Promise<void> => {
      for (let round = 1; round <= 50; round++) await write(store, ...pair.map((key) => put(key, round)));
    };
    const reader = async (): Promise<void> => {
      for (let round = 0; round < 50; round++) {
        const [left, right] = await store.getMany<number>(pair);
        assertEquals(left?.value, right?.value);
      }
    };
    await Promise.all([writer(), reader()]);
  });
}
