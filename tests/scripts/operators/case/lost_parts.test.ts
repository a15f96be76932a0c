/** `deno task case` for a case of which a part was erased or lost. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import { openEnvironment } from "testing/environment.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { openBookEnvironment } from "support/bank_books.ts";
import { paid } from "support/orders.ts";
import { erase } from "support/personal_case.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { elapse, grow } from "support/retention.ts";
import { settled, toolsFor } from "./bundles.ts";

Deno.test("the decision of an erased case was erased: it was not made at the bank [EN12]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const { paymentId } = await settled(env);
  await grow(env);
  await elapse(env, 90_000_000);
  assertEquals((await erase(env, paymentId)).status, 200);
  await grow(env);
  const tools = toolsFor(env.platform);
  await caseCommand([paymentId, "--screen", "--url", OPERATIONS_URL], tools);
  assertEquals(tools.printed, ["the customer's decision and what the screen showed were erased"]);
});

Deno.test("a recovered payment whose consent was lost says so, and its bundle holds [G9, EV9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, copy);
  await env.operate("/operations/order-holds/BANKA/reconcile", "");
  await grow(env);
  const tools = toolsFor(env.platform);
  const LOST = "the consent was lost with a restore of the database";
  await caseCommand([id, "--bundle", "case.json", "--url", OPERATIONS_URL], tools);
  assertEquals(tools.printed[1], LOST);
  assertMatch(tools.printed[2] ?? "", /stated by the bank after a restore/);
  assert(await caseCommand(["verify", "case.json"], tools));
  assert(tools.printed.includes(LOST));
});
