/** The gate of races: a request that fails early does not keep the others waiting. */
import { assertEquals } from "@std/assert";
import { openGatedStore } from "./gated_store.ts";

Deno.test("a gate opens when each request waits with its commit or has ended without one", async () => {
  const store = await openGatedStore();
  try {
    const commit = (id: string): Promise<boolean> =>
      store.commit({ checks: [], writes: [{ kind: "set", key: ["client", id], value: id }] });
    const late = Promise.withResolvers<string>();
    const answers = store.together<boolean | string>([
      () => commit("one"),
      () => late.promise,
      () => commit("two"),
    ]);
    assertEquals((await store.list({ prefix: ["client"], limit: 3 })).length, 0);
    late.resolve("ended");
    assertEquals(await answers, [true, "ended", true]);
  } finally {
    await store.close();
  }
});
