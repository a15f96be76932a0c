import { assertEquals } from "@std/assert";
import { authorised, call, consentBody, DEBTOR_ACCOUNT, good, pay } from "../../../scripts/testing/flows.ts";
import { openWorld } from "../../../scripts/testing/environment.ts";

Deno.test("POST domestic-payments answers 201 AcceptedSettlementInProcess and consumes the consent [PAY-01]", async () => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const payment = await good(pay(world, flow), 201);
  assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
  assertEquals(payment.Data.ConsentId, flow.consentId);
  assertEquals(payment.Data.Charges, []);
  assertEquals(payment.Meta, {});
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  const consent = await good(call(world, world.tpp, flow.bound, path), 200);
  assertEquals(consent.Data.Status, "Consumed");
});

Deno.test("POST domestic-payments works for an implicit consent and for the bank's own screen [PAY-01]", async () => {
  await using world = await openWorld();
  const implicit = await authorised(world, {
    body: consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } }),
  });
  assertEquals((await pay(world, implicit)).status, 201);
  const atB = await authorised(world, { bank: world.bankB });
  assertEquals((await pay(world, atB)).status, 201);
});
