/** What a bundle says of dynamic linking. The tests' bank A returns the digest, bank B knows nothing of it. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { openPushEnvironment } from "support/orders.ts";
import { authorised } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { grownBundle, openJudge, toolsFor } from "./bundles.ts";
import { forge } from "./forging.ts";

Deno.test("a bundle says linked: proven if the bank signed the digest, else not claimed, and a false word does not hold [EV16]", async () => {
  await using env = await openPushEnvironment();
  const judged = openJudge(toolsFor(env.platform));
  const cases = [
    [env.bankA, "proven", "proven: the bank has signed", "not claimed"],
    [env.bankB, "not claimed", "not claimed\n", "proven"],
  ] as const;
  for (const [bank, linked, words, other] of cases) {
    const { Data } = await good(pay(env, await authorised(env, { bank })), 201);
    const text = await grownBundle(env, Data.DomesticPaymentId);
    const [holds, said] = await judged(text);
    assertEquals(holds, true, said);
    assertStringIncludes(said, `linked: ${words}`);
    assertEquals(await judged(await forge(text, () => {}, { linked: other })), [
      false,
      `DOES NOT HOLD: the statement says linked: ${other}, and the evidence says ${linked}`,
    ]);
  }
});
