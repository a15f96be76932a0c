/** `deno task case compare`: a bundle from which the newest entries are cut contradicts a later one. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { decodeJwt } from "jose";
import type { Statement } from "../../../../scripts/operators/case/bundle_schema.ts";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import { openEnvironment } from "testing/environment.ts";
import { grownBundle, settled, toolsFor } from "./bundles.ts";
import { forge } from "./forging.ts";

Deno.test("two bundles of a case that do not tell the same history contradict each other [EV11]", async () => {
  await using env = await openEnvironment();
  const { paymentId } = await settled(env);
  const text = await grownBundle(env, paymentId);
  env.now += 3_600_000;
  const { payment_entries, iat } = decodeJwt<Statement>(
    (JSON.parse(text) as { readonly statement: string }).statement,
  );
  const newest = { payment_entries: payment_entries - 1, iat: iat + 3600 };
  const cut = await forge(text, (bundle) => void bundle.entries.pop(), newest);
  const other = await grownBundle(env, (await settled(env)).paymentId);
  const tools = toolsFor(env.platform);
  for (const [name, bundle] of Object.entries({ text, cut, other, none: "{}\n" })) {
    tools.files.set(name, bundle);
  }
  const compare = async (one: string, two: string): Promise<readonly [unknown, string]> => [
    await caseCommand(["compare", one, two], tools),
    tools.printed.splice(0).join("\n"),
  ];
  assert(await caseCommand(["verify", "cut"], tools), tools.printed.join("\n")); // the bundle alone does not show it
  tools.printed.splice(0);
  assertEquals(await compare("text", "text"), [true, "ok: both bundles tell the same history"]);
  for (const [one, two] of [["text", "cut"], ["cut", "text"]] as const) {
    const [agree, said] = await compare(one, two);
    assertEquals(agree, false);
    assertMatch(
      said,
      /^CONTRADICTION: entry 2 of \S+ \(payment\.AcceptedSettlementCompleted\) is missing in the later/,
    );
  }
  assertEquals(await compare("text", "other"), [
    false,
    "CONTRADICTION: the bundles are of two different cases",
  ]);
  await assertRejects(() => compare("text", "none"), Error, "a bundle does not hold");
});
