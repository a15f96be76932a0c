/** The TPP's client of lists: what it sends, what it takes, and the lists of a real platform (contract LS1 to LS3). */
import { assertEquals, assertRejects } from "@std/assert";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { createConsent } from "../../../src/client/tpp/domestic_payments.ts";
import { listConsents, listPayments } from "../../../src/client/tpp/lists.ts";
import { emptyMessageLog } from "../../../src/client/tpp/message_log.ts";
import { openFlow } from "../../../src/client/tpp/payment_journey.ts";
import { paymentRequest } from "../../../src/client/tpp/payment_request.ts";
import { openTpp } from "../../../src/client/tpp/tpp.ts";
import { merchant } from "../../../src/sandbox/shop/catalogue.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { json } from "support/sandbox_tpp_platform.ts";
import { openEnvironmentAndFlow } from "./tpp_client.ts";

const CONSENT = {
  ConsentId: "c",
  CreationDateTime: "2040-01-15T12:00:00+00:00",
  Status: "Consumed",
  StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
  InstructedAmount: { Amount: "1.00", Currency: "EUR" },
};

Deno.test("the query has what was asked, and the page its cursor [LS2, LS3]", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const token = await grantClientToken(flow);
  const urls: string[] = [];
  const observed = {
    ...flow,
    fetch: ((url, init) => {
      urls.push(String(url));
      return flow.fetch(url, init);
    }) as typeof flow.fetch,
  };
  const Payment = [{ ...CONSENT, DomesticPaymentId: "p" }];
  env.answers.set("/BANKA/domestic-payments/v1", [
    () => json(200, { Data: { Payment, After: "x-1" } }),
    () => json(200, { Data: { Payment: [] } }),
  ]);
  const first = await listPayments(observed, token, {
    from: new Date(Date.UTC(2040, 0, 15)),
    status: "Rejected",
    endToEndId: "A & B",
  });
  assertEquals(first, { found: Payment, after: "x-1" });
  const last = await listPayments(observed, token, { after: "x-1" });
  assertEquals(last, { found: [], after: undefined });
  assertEquals(urls.map((url) => new URL(url).search), [
    "?from=2040-01-15T00%3A00%3A00.000Z&status=Rejected&end-to-end-id=A+%26+B",
    "?after=x-1",
  ]);
});

Deno.test("an answer without the list's members is not taken [LS1]", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const token = await grantClientToken(flow);
  env.answers.set("/BANKA/domestic-payment-consents/v1", [
    () => json(200, { Data: { Consent: [{ ...CONSENT, Status: 1 }] } }),
  ]);
  await assertRejects(() => listConsents(flow, token));
});

Deno.test("a TPP lists the consents that it has created at a sandbox [LS1]", async () => {
  await using sandbox = await openPooledSandbox();
  const { dir, endpoints } = sandbox;
  const tpp = await openTpp({ dir, name: "shop", endpoints, redirectUri: `${endpoints.shop_url}/callback` });
  try {
    const flow = await openFlow(tpp, "BANKA", emptyMessageLog());
    const token = await grantClientToken(flow);
    const purchase = { orderId: crypto.randomUUID(), description: "Lunch", amount: "12.50", merchant };
    const made = await createConsent(flow, token, paymentRequest(purchase));
    const { found } = await listConsents(flow, token, { status: "AwaitingAuthorisation" });
    assertEquals(found.map(({ ConsentId, InstructedAmount }) => [ConsentId, InstructedAmount.Amount]), [[
      made.consentId,
      "12.50",
    ]]);
    assertEquals((await listPayments(flow, token)).found, []);
  } finally {
    tpp.close();
  }
});
