import { assertEquals } from "@std/assert";
import { bodyOf, type CreatedConsent } from "testing/answers.ts";
import { call, clientToken, consentBody, pay, paymentBody } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertBare } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS, resourceCalls } from "support/resource_calls.ts";
import { BASE_URL } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

test("resource endpoints answer in application/json only [CON-22]", async ({ env, t }) => {
  for (const endpoint of await resourceCalls(env)) {
    for (const accept of ["text/html", "application/xml", "image/*, text/plain;q=0.5"]) {
      await t.step(`${endpoint.name}: ${accept}`, async () => {
        await assertBare(await unchanged(env, () => endpoint.send({ headers: { accept } })), 406);
      });
    }
    const fit = endpoint.name === "POST domestic-payments" ? ["*/*"] : [
      "*/*",
      "application/*",
      "application/json; charset=utf-8",
      "text/html, application/json;q=0.1",
      "APPLICATION/JSON",
    ];
    await stepsOf(t, fit, (accept) => `${endpoint.name}: takes ${accept}`, async (accept) => {
      assertEquals((await endpoint.send({ headers: { accept } })).status, endpoint.status);
    });
  }
});

test("resource endpoints have no methods but their own [CON-22] [RG-N14]", async ({ env, t }) => {
  const id = crypto.randomUUID();
  const addresses: Record<string, string> = {
    [CONSENTS]: "POST, GET",
    [`${CONSENTS}/${id}`]: "GET",
    [`${CONSENTS}/${id}/funds-confirmation`]: "GET",
    [PAYMENTS]: "POST, GET",
    [`${PAYMENTS}/${id}`]: "GET",
  };
  for (const [path, allow] of Object.entries(addresses)) {
    const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((method) =>
      !allow.split(", ").includes(method)
    );
    await stepsOf(t, others, (method) => `${method} ${path}`, async (method) => {
      const response = await env.api(new Request(BASE_URL + path, { method }), env.tpp);
      assertEquals(response.headers.get("allow"), allow);
      await assertBare(response, 405);
    });
  }
});

test("HEAD of a resource with a proof for GET gives nothing away [RG-N14]", async ({ env }) => {
  const { bound, consentId } = await authorised(env);
  const response = await call(env, env.tpp, bound, `${CONSENTS}/${consentId}`, {
    method: "HEAD",
    proofChanges: { claims: { htm: "GET" } },
  });
  await assertBare(response, 405);
});

test("there is nothing at other addresses [VER-01] [RG-N13]", async ({ env, t }) => {
  const flow = await authorised(env);
  const { Data } = await bodyOf(pay(env, flow));
  const [consent, payment] = [flow.consentId, Data.DomesticPaymentId];
  const paths = [
    "/BANKA/domestic-payment-consents/v2",
    `/BANKA/domestic-payment-consents/v2/${consent}`,
    "/BANKA/domestic-payments/v2",
    `/BANKA/domestic-payments/v1/${payment}/payment-details`,
    `/BANKA/domestic-payment-consents/v1/${consent}/payment-details`,
    `/BANKA/domestic-payment-consents/v1/${consent}/`,
    "/BANKA/domestic-payment-consents/v1/",
    `/BANKA/Domestic-Payments/v1/${payment}`,
    `/BANKA//domestic-payments/v1/${payment}`,
    `/domestic-payments/v1/${payment}`,
    `/BANKA/domestic-payment-consents/v1/x/../../v1/${consent}/more`,
    "/BANKA/international-payments/v1",
  ];
  for (const path of paths) {
    await stepsOf(t, ["GET", "POST"], (method) => `${method} ${path}`, async (method) => {
      const options = method === "POST" ? { body: JSON.stringify(consentBody()) } : {};
      const response = await unchanged(env, () => call(env, env.tpp, flow.bound, path, options));
      assertEquals(response.status, 404);
    });
  }
});

test("POST endpoints take white space and escapes as JSON allows them [CON-20]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const body = `\r\n\t ${JSON.stringify(consentBody(), null, "\t")} \n`.replace(
    "ACME Inc",
    "\\u0041CME\\u0020Inc",
  );
  const response = await call(env, env.tpp, bound, CONSENTS, { body });
  assertEquals((await bodyOf<CreatedConsent>(response)).Data.Initiation.CreditorAccount.Name, "ACME Inc");
  const flow = await authorised(env);
  const spaced = JSON.stringify(paymentBody(flow.consentId, flow.body), null, 4);
  assertEquals((await pay(env, flow, { body: spaced })).status, 201);
});
