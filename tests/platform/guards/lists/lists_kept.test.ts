/** Entries of lists end with the personal data of their case. */
import { assertEquals } from "@std/assert";
import { decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import { DAY_MS, elapse, openRetaining, pass, settled, work } from "support/retention.ts";
import { idsOf } from "./lists.ts";

async function listedKeys(env: Environment): Promise<readonly string[]> {
  return (await env.raw.list({ prefix: ["listed"], limit: 1000 })).map(({ key }) => key.join("/"));
}

Deno.test("a consent that was never authorised is listed until its personal data is deleted [LS1]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const shown = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  await decide(flow.browser, shown.headers.get("location") ?? "", "refuse");
  assertEquals(await idsOf(env, "Consent", { status: "Rejected" }), [flow.consentId]);
  await elapse(env, 31 * DAY_MS);
  assertEquals(await env.platform.eraseConsents(), 1);
  assertEquals([await idsOf(env, "Consent"), await listedKeys(env)], [[], []]);
});

Deno.test("a paid consent and its payment are listed until their case is erased by the clock [LS1]", async () => {
  await using env = await openRetaining();
  const { consentId, paymentId } = await settled(env);
  await pass(env, 199);
  await work(env);
  assertEquals([await idsOf(env, "Consent"), await idsOf(env, "Payment")], [[consentId], [paymentId]]);
  await elapse(env, 2 * DAY_MS);
  assertEquals(await work(env), 1);
  assertEquals([await idsOf(env, "Consent"), await idsOf(env, "Payment"), await listedKeys(env)], [
    [],
    [],
    [],
  ]);
});
