/** Payments of every consent type and fate, and what their bundles prove after every key was replaced. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { openPushEnvironment } from "support/orders.ts";
import { bundleOf, verifiedOffline, withNewKeys } from "./bundles.ts";
import { HOUR_MS, LIVES } from "./lives.ts";

Deno.test("bundles of every consent type and fate hold offline after all keys were replaced [EV9, EV11]", async (t) => {
  await using env = await openPushEnvironment();
  const ids: Record<string, string> = {};
  for (const [life, live] of Object.entries(LIVES)) ids[life] = await live(env);
  env.now += HOUR_MS;
  const platform = await withNewKeys(env);
  for (const [life, id] of Object.entries(ids)) {
    await t.step(life, async () => {
      const { text, printed } = await bundleOf(platform, id);
      const { code, words } = await verifiedOffline(text);
      assertEquals(code, 0, words);
      assert(words.startsWith("HOLDS: consent "), words);
      assert(printed.length > 1, printed.join("\n"));
    });
  }
  await t.step("the fates are told", async () => {
    const told = async (life: string): Promise<string> =>
      (await bundleOf(platform, ids[life] ?? "")).printed.join("\n");
    assertMatch(await told("refused by the customer"), /the consent was rejected .*customer rejected/);
    assertMatch(
      await told("given up, redriven and executed"),
      /gave the order up[^]*an operator had the order tried again[^]*the payment is in process/,
    );
  });
});
