import { assert, assertEquals, assertRejects } from "@std/assert";
import { decodeProtectedHeader } from "jose";
import type { SentConsent, SentPayment } from "testing/flows.ts";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import {
  createConsent,
  createPayment,
  readConsent,
  readPayment,
} from "../../../src/client/tpp/domestic_payments.ts";
import { ApiErrorResponse } from "../../../src/client/party/api_error.ts";
import { isIban, paymentRequest } from "../../../src/client/tpp/payment_request.ts";
import { merchant } from "../../../src/sandbox/shop/catalogue.ts";
import { consentId, json, paymentAnswer, unsigned } from "support/sandbox_tpp_platform.ts";
import { lastRequest, openEnvironmentAndFlow } from "./tpp_client.ts";

const purchase = { orderId: crypto.randomUUID(), description: "Lunch", amount: "12.50", merchant };

Deno.test("createConsent and createPayment send the same initiation and risk, signed, each with its own key", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const request = paymentRequest({ ...purchase, debtorIban: "GB33BUKB20201555555555" });
  const token = await grantClientToken(flow);
  await createConsent(flow, token, request);
  await createPayment(flow, token, { consentId, ...request });
  const consent = lastRequest(env, "/BANKA/domestic-payment-consents/v1");
  const payment = lastRequest(env, "/BANKA/domestic-payments/v1");
  const [asked, paid] = [JSON.parse(consent.body) as SentConsent, JSON.parse(payment.body) as SentPayment];
  assertEquals(paid.Data, { ConsentId: consentId, Initiation: asked.Data.Initiation });
  assertEquals(paid.Risk, asked.Risk);
  assertEquals(asked.Data.ReadRefundAccount, "Yes");
  for (const { headers } of [consent, payment]) {
    assertEquals(headers.get("authorization"), `DPoP ${token.value}`);
    assertEquals(decodeProtectedHeader(headers.get("x-jws-signature") ?? "").kid, "kid-1");
    assert((headers.get("x-idempotency-key") ?? "").length <= 40);
  }
  const [consentKey, paymentKey] = [consent, payment].map(({ headers }) => headers.get("x-idempotency-key"));
  assert(consentKey !== paymentKey);
});

Deno.test("createPayment turns an OBIE rejection into its status, codes and one sentence", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const rejection = {
    Code: "400 BadRequest",
    Message: "no",
    Errors: [{ ErrorCode: "UK.OBIE.Resource.ConsentMismatch", Path: "Risk", Message: "differs" }],
  };
  env.answers.set("/BANKA/domestic-payments/v1", [(): Response => json(400, rejection)]);
  const token = await grantClientToken(flow);
  const error = await assertRejects(
    () => createPayment(flow, token, { consentId, ...paymentRequest(purchase) }),
    ApiErrorResponse,
    "400: UK.OBIE.Resource.ConsentMismatch (Risk) differs",
  );
  assertEquals([error.status, error.codes], [400, ["UK.OBIE.Resource.ConsentMismatch"]]);
});

Deno.test("createPayment turns a challenge without body into a rejection", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const challenge = { "www-authenticate": 'DPoP error="invalid_token", algs="PS256"' };
  const answer = (): Response => new Response(null, { status: 401, headers: challenge });
  env.answers.set("/BANKA/domestic-payments/v1", [answer]);
  const token = await grantClientToken(flow);
  const error = await assertRejects(
    () => createPayment(flow, token, { consentId, ...paymentRequest(purchase) }),
    ApiErrorResponse,
  );
  assertEquals([error.status, error.codes], [401, ["invalid_token"]]);
});

Deno.test("createConsent rejects an answer whose signature does not verify", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const answer = json(201, { Data: { ConsentId: consentId, Status: "AwaitingAuthorisation" } });
  answer.headers.set("x-jws-signature", "eyJhbGciOiJub25lIn0..AAAA");
  env.answers.set("/BANKA/domestic-payment-consents/v1", [(): Response => answer]);
  const token = await grantClientToken(flow);
  await assertRejects(() => createConsent(flow, token, paymentRequest(purchase)));
});

Deno.test("readConsent returns why a consent was rejected [RSN1]", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const token = await grantClientToken(flow);
  const Data = { ConsentId: consentId, Status: "Rejected", StatusReasonCode: "CUST" };
  env.answers.set(`/BANKA/domestic-payment-consents/v1/${consentId}`, [() => json(200, { Data })]);
  const seen = await readConsent(flow, token, consentId);
  assertEquals(seen, { consentId, status: "Rejected", reasonCode: "CUST" });
});

Deno.test("every call of consents and payments rejects an answer without a signature [SG6]", async (t) => {
  const { env, flow } = await openEnvironmentAndFlow();
  const token = await grantClientToken(flow);
  const request = paymentRequest(purchase);
  await t.step("a consent", async () => {
    const answer = json(201, { Data: { ConsentId: consentId, Status: "AwaitingAuthorisation" } });
    env.answers.set("/BANKA/domestic-payment-consents/v1", [() => unsigned(answer)]);
    await assertRejects(() => createConsent(flow, token, request), Error, "no x-jws-signature");
  });
  await t.step("a payment", async () => {
    env.answers.set("/BANKA/domestic-payments/v1", [
      () => unsigned(paymentAnswer(201, "AcceptedSettlementInProcess")),
    ]);
    await assertRejects(
      () => createPayment(flow, token, { consentId, ...request }),
      Error,
      "no x-jws-signature",
    );
  });
  await t.step("what is read", async () => {
    const address = `/BANKA/domestic-payments/v1/${consentId}`;
    env.answers.set(address, [() => unsigned(paymentAnswer(200, "AcceptedSettlementInProcess"))]);
    await assertRejects(() => readPayment(flow, token, consentId), Error, "no x-jws-signature");
    const consent = json(200, { Data: { ConsentId: consentId, Status: "AwaitingAuthorisation" } });
    env.answers.set(`/BANKA/domestic-payment-consents/v1/${consentId}`, [() => unsigned(consent)]);
    await assertRejects(() => readConsent(flow, token, consentId), Error, "no x-jws-signature");
  });
});

Deno.test("paymentRequest keeps every text within its length [CF14]", () => {
  const { initiation } = paymentRequest(purchase);
  assert(initiation.InstructionIdentification.length <= 35);
  assert(initiation.EndToEndIdentification.length <= 35);
  assert(initiation.RemittanceInformation.Reference.length <= 35);
  assertEquals("DebtorAccount" in initiation, false);
});

Deno.test("isIban checks form and check number", () => {
  for (const good of [merchant.iban, "GB33BUKB20201555555555", "DE89370400440532013000"]) {
    assert(isIban(good), good);
  }
  for (
    const bad of ["", "FR1420041010050500013M02607", "GB33 BUKB 2020 1555 5555 55", "gb33bukb20201555555555"]
  ) {
    assertEquals(isIban(bad), false, bad);
  }
});
