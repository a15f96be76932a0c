/** Races at the resource endpoints: forty requests that are ready and sent at once. */
import { assertEquals } from "@std/assert";
import type { PaymentOrders } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  good,
  pay,
  type SentConsent,
} from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { tally, volley } from "support/volley.ts";
import { test } from "support/environment_test.ts";
import { type Environment } from "testing/environment.ts";
import { idsOf, SHOTS, stored } from "./raced.ts";

function post(
  env: Environment,
  token: BoundToken,
  idempotencyKey: string,
  body: SentConsent = consentBody(),
): Promise<Response> {
  return call(env, env.tpp, token, CONSENTS, { body: JSON.stringify(body), idempotencyKey });
}

test("40 parallel POST domestic-payment-consents with one key and body make one consent and all answer it [IDE-05]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const answers = await volley(env, SHOTS, (loading) => post(loading, token, "k"));
  assertEquals((await idsOf(answers, "ConsentId")).length, 1);
  assertEquals([await stored(env, "consent"), await stored(env, "idempotency_claim")], [1, 1]);
});

test("40 parallel POST domestic-payments with one key and body make one payment and all answer it [IDE-05] [RP-N20]", async ({ env }) => {
  const flow = await authorised(env);
  const answers = await volley(env, SHOTS, (loading) => pay(loading, flow, { idempotencyKey: "k" }));
  const [id, ...others] = await idsOf(answers, "DomesticPaymentId");
  assertEquals(others, []);
  assertEquals([await stored(env, "payment"), await stored(env, "payment_order")], [1, 1]);
  const bank = await clientToken(env, env.bankA);
  const { Data } = await good<PaymentOrders>(
    call(env, env.bankA, bank, "/BANKA/back-channel-payments/v1"),
    200,
  );
  assertEquals(Data.PaymentOrder.map(({ DomesticPaymentId }) => DomesticPaymentId), [id]);
});

test("of 40 parallel POST domestic-payments with different keys on one consent exactly one pays [IDE-06] [RP-N19] [RP10]", async ({ env }) => {
  const flow = await authorised(env);
  const answers = await volley(env, SHOTS, (loading) => pay(loading, flow));
  assertEquals(tally(answers), { 201: 1, 400: SHOTS - 1 });
  for (const answer of answers.filter(({ status }) => status === 400)) {
    await assertFaults(answer, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
  }
  assertEquals([await stored(env, "payment"), await stored(env, "payment_order")], [1, 1]);
});

test("of 40 parallel POST domestic-payment-consents with one key and different bodies exactly one is made [IDE-03]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const before = await stored(env, "consent");
  const answers = await volley(
    env,
    SHOTS,
    (loading, number) =>
      post(loading, token, "k", consentBody({ initiation: { InstructionIdentification: `N${number}` } })),
  );
  assertEquals(tally(answers), { 201: 1, 400: SHOTS - 1 });
  for (const answer of answers.filter(({ status }) => status === 400)) {
    await assertFaults(answer, 400, [["Rules.ResourceAlreadyExists", "x-idempotency-key"]]);
  }
  assertEquals(await stored(env, "consent"), before + 1);
});

test("40 parallel POST domestic-payment-consents 24 h after the key's first use make one consent more [IDE-10]", async ({ env }) => {
  await good(post(env, await clientToken(env, env.tpp), "k"), 201);
  env.now += 86_400_000;
  const token = await clientToken(env, env.tpp);
  const answers = await volley(env, SHOTS, (loading) => post(loading, token, "k"));
  assertEquals((await idsOf(answers, "ConsentId")).length, 1);
  assertEquals(await stored(env, "consent"), 2);
});
