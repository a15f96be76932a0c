/**
 * Entries of lists end with the personal data of their case. Lists of consents and payments have a rate limit of their
 * own.
 */
import { assertEquals } from "@std/assert";
import { authorised, decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import { DAY_MS, elapse, openRetaining, pass, settled, work } from "support/retention.ts";
import { idsOf, request } from "./lists.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";

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

Deno.test("both lists count in one group of their own, and reads of one payment do not [LS6, RL1]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "lists=1/2,registration=100/100" },
  });
  const flow = await authorised(env);
  const { DomesticPaymentId } = (await good(pay(env, flow, { idempotencyKey: "order-1" }), 201)).Data;
  const token = await clientToken(env, env.tpp);
  const status = async (path: string): Promise<number> => (await call(env, env.tpp, token, path)).status;
  assertEquals([await status(CONSENTS), await status(`${PAYMENTS}?status=Rejected`)], [200, 200]);
  const rejected = await request(env, "Payment", {}, { token });
  assertEquals([rejected.status, rejected.headers.get("retry-after")], [429, "1"]);
  assertEquals(await status(CONSENTS), 429);
  assertEquals(await status(`${CONSENTS}/${flow.consentId}`), 200);
  assertEquals(await status(`${PAYMENTS}/${DomesticPaymentId}`), 200);
  assertEquals(await status(`${PAYMENTS}?idempotency-key=order-1`), 200);
  assertEquals((await request(env, "Payment", {}, { caller: env.otherTpp })).status, 200);
  env.now += 1000;
  assertEquals(await status(PAYMENTS), 200);
});
