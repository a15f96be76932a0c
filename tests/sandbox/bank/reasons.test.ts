/** A sandbox bank rejects with each code that a bank may report. */
import { assertEquals } from "@std/assert";
import { bodyOf, type Consent } from "testing/answers.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { BANK_REASON_CODES } from "../../../src/client/party/reason_codes.ts";
import { amountOf, createFaults } from "../../../src/sandbox/bank/faults.ts";
import { ALICE_EUR_AT_BANKA } from "../../../src/sandbox/bank/customers.ts";
import { BANKS_URL } from "support/bank_browser.ts";
import { consentFrom, signOrder } from "support/bank_visits.ts";
import { arm, openBanksEnvironment, over, paidAt, visit } from "support/banks_environment.ts";

Deno.test("an amount chooses the code with which a bank rejects an order or a customer [RSN6]", () => {
  const faults = createFaults();
  for (const reasonCode of BANK_REASON_CODES) {
    for (const [name, at] of [["refuse", "execution"], ["refuse_customer", "return"]] as const) {
      const met = faults.meet(at, { consentId: undefined, amount: amountOf(name, reasonCode) });
      assertEquals(met, { name, reasonCode });
    }
  }
  for (const amount of ["667.00", "667.99", "66.01", "667.1.2"]) {
    assertEquals(faults.meet("execution", { consentId: undefined, amount }), undefined);
  }
});

Deno.test("a bank answers a push with the code of the amount, for each code [RSN6]", async () => {
  await using env = await openBanksEnvironment();
  const answered: unknown[] = [];
  for (const code of BANK_REASON_CODES) {
    const InstructedAmount = { Amount: amountOf("refuse", code), Currency: "EUR" };
    const Initiation = { ...consentFrom(ALICE_EUR_AT_BANKA).Data.Initiation, InstructedAmount };
    const Data = { DomesticPaymentId: crypto.randomUUID(), ConsentId: crypto.randomUUID(), Initiation };
    const response = await env.banks.fetch(
      new Request(`${BANKS_URL}/BANKA/payment-orders`, {
        method: "POST",
        body: await signOrder(env, { Data }),
        headers: { "content-type": "application/jose" },
      }),
    );
    answered.push((await response.json() as { StatusReasonCode?: string }).StatusReasonCode);
  }
  assertEquals(answered, [...BANK_REASON_CODES]);
});

Deno.test("an armed fault rejects the customer with its code, and an amount the order: the TPP reads both [RSN6]", async () => {
  await using env = await openBanksEnvironment();
  const armed = await arm(env, { fault: "refuse_customer", reason_code: "AG01" });
  assertEquals([armed.status, (await bodyOf<{ armed: unknown }>(armed)).armed], [
    201,
    [{ fault: "refuse_customer", times: 1, reason_code: "AG01" }],
  ]);
  const { consentId, returned } = await visit(env, { body: over("3.00") });
  assertEquals(new URL(returned.headers.get("location") ?? "").searchParams.get("reason_code"), "AG01");
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  const consent = await good<Consent>(call(env, env.tpp, await clientToken(env, env.tpp), path), 200);
  assertEquals(consent.Data.StatusReasonCode, "AG01");
  const made = await paidAt(env, { body: over(amountOf("refuse", "RR04")) });
  assertEquals([made.Status, made.StatusReasonCode, made.StatusReason], ["Rejected", "RR04", undefined]);
  assertEquals((await arm(env, { fault: "refuse", reason_code: "ORDER_CLOSED" })).status, 400);
});
