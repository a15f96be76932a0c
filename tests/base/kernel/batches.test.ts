import { assertEquals } from "@std/assert";
import { inRandomBatches } from "../../../src/base/kernel/batches.ts";

Deno.test("inRandomBatches cuts a list into neighbours of at most the size, each once, in any order", () => {
  const items = Array.from({ length: 45 }, (_, index) => index);
  const firsts = new Set<number | undefined>();
  for (let round = 0; round < 100; round++) {
    const batches = inRandomBatches(items, 20, Math.random);
    assertEquals(batches.map((batch) => batch.length).toSorted(), [20, 20, 5]);
    assertEquals(batches.toSorted(([a = 0], [b = 0]) => a - b).flat(), items);
    firsts.add(batches[0]?.[0]);
  }
  assertEquals([...firsts].toSorted(), [0, 20, 40]); // missing one of them 100 times: (2/3)^100
  assertEquals(inRandomBatches([], 20, Math.random), []);
});
