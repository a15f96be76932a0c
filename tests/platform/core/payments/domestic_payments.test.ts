import { assertEquals } from "@std/assert";
import type { Consent } from "testing/answers.ts";
import { call, consentBody, DEBTOR_ACCOUNT, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { openEnvironment } from "testing/environment.ts";

Deno.test("POST domestic-payments answers 201 AcceptedSettlementInProcess and consumes the consent [PAY-01]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const payment = await good(pay(env, flow), 201);
  assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
  assertEquals(payment.Data.ConsentId, flow.consentId);
  assertEquals(payment.Data.Charges, []);
  assertEquals(payment.Meta, {});
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  const consent = await good<Consent>(call(env, env.tpp, flow.bound, path), 200);
  assertEquals(consent.Data.Status, "Consumed");
});

Deno.test("POST domestic-payments works for an implicit consent and for the bank's own screen [PAY-01]", async () => {
  await using env = await openEnvironment();
  const implicit = await authorised(env, {
    body: consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } }),
  });
  assertEquals((await pay(env, implicit)).status, 201);
  const atB = await authorised(env, { bank: env.bankB });
  assertEquals((await pay(env, atB)).status, 201);
});
