/** The rights of a valid token: its scope, its grant, its one consent. */
import { assertEquals } from "@std/assert";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS, resourceCalls } from "support/resource_calls.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const FORBIDDEN = 'DPoP error="insufficient_scope", scope="payments", algs="PS256"';

test("resource endpoints of TPPs reject a bank's token [RG-N9] [RP-N24]", async ({ env, t }) => {
  const bank = await clientToken(env, env.bankA);
  await stepsOf(t, await resourceCalls(env), (endpoint) => endpoint.name, async (endpoint) => {
    const response = await unchanged(env, () => endpoint.send({ caller: env.bankA, token: bank }));
    await assertChallenge(response, 403, FORBIDDEN);
  });
});

test("POST domestic-payments rejects a client credentials token [RP-N16] [PAY-05] [FAPI-G22] [RS7]", async ({ env }) => {
  const flow = await authorised(env);
  const response = await unchanged(env, () => pay(env, { ...flow, payment: flow.bound }));
  await assertChallenge(response, 403, FORBIDDEN);
});

test("POST and GET domestic-payment-consents reject an authorization code token [RP-N17] [RS7]", async ({ env, t }) => {
  const { payment, consentId } = await authorised(env);
  await t.step("POST", async () => {
    const body = JSON.stringify(consentBody());
    const response = await unchanged(env, () => call(env, env.tpp, payment, CONSENTS, { body }));
    await assertChallenge(response, 403, FORBIDDEN);
  });
  await t.step("GET its own consent", async () => {
    const response = await unchanged(env, () => call(env, env.tpp, payment, `${CONSENTS}/${consentId}`));
    await assertChallenge(response, 403, FORBIDDEN);
  });
});

test("an authorization code token is for its own consent alone [RP-N18] [PAY-05]", async ({ env, t }) => {
  const mine = await authorised(env);
  const other = await authorised(env);
  const made = await good(pay(env, await authorised(env)), 201);
  const attempts: Record<string, () => Promise<Response>> = {
    "POST domestic-payments": () => pay(env, { ...other, payment: mine.payment }),
    "GET funds-confirmation": () =>
      call(env, env.tpp, mine.payment, `${CONSENTS}/${other.consentId}/funds-confirmation`),
    "GET domestic-payments/{id}": () =>
      call(env, env.tpp, mine.payment, `${PAYMENTS}/${made.Data.DomesticPaymentId}`),
  };
  await steps(t, attempts, async (attempt) => {
    await assertChallenge(await unchanged(env, attempt), 403, FORBIDDEN);
  });
  await t.step("each token still pays for its own", async () => {
    assertEquals((await pay(env, mine)).status, 201);
    assertEquals((await pay(env, other)).status, 201);
  });
});

test("bank endpoints reject a TPP's token, by client credentials or by code [RG-N9] [RS7]", async ({ env, t }) => {
  const { bound, payment, consentId } = await authorised(env);
  for (const [name, token] of Object.entries({ client_credentials: bound, authorization_code: payment })) {
    for (const path of [`/BANKA/back-channel-auth/v1/${consentId}`, "/BANKA/back-channel-payments/v1"]) {
      await t.step(`${name} ${path.split("/")[2]}`, async () => {
        const response = await unchanged(env, () => call(env, env.tpp, token, path));
        await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="bank", algs="PS256"');
      });
    }
  }
});
