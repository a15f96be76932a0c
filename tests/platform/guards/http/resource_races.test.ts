/** Races at the resource endpoints: forty requests that are ready and sent at once. */
import { assertEquals } from "@std/assert";
import type { Consent, PaymentOrders } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  good,
  pay,
  paymentBody,
  type SentConsent,
} from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { tally, volley } from "support/volley.ts";
import { test } from "support/environment_test.ts";
import { BASE_URL, type Environment } from "testing/environment.ts";
import { idsOf, SHOTS, stored } from "./raced.ts";
import { dpopProof } from "testing/jwts.ts";
import { steps } from "support/steps.ts";

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

const USED_PROOF = 'DPoP error="invalid_dpop_proof", algs="PS256"';

test("of 40 parallel requests with one DPoP proof exactly one is served [DP-N14] [RG-N6]", async ({ env, t }) => {
  const flow = await authorised(env);
  const one = await createdPayment(env);
  const token = flow.bound;
  const consent = `${CONSENTS}/${flow.consentId}`;
  const body = JSON.stringify(consentBody());
  const served: Record<
    string,
    readonly [string, string, BoundToken, (w: Environment, proof: string, n: number) => Promise<Response>]
  > = {
    "GET domestic-payment-consents/{id}": [
      "GET",
      consent,
      token,
      (w, proof) => call(w, w.tpp, token, consent, { proof }),
    ],
    "GET funds-confirmation": [
      "GET",
      `${consent}/funds-confirmation`,
      flow.payment,
      (w, proof) => call(w, w.tpp, flow.payment, `${consent}/funds-confirmation`, { proof }),
    ],
    "GET domestic-payments/{id}": ["GET", one, token, (w, proof) => call(w, w.tpp, token, one, { proof })],
    "POST domestic-payment-consents, different keys": [
      "POST",
      CONSENTS,
      token,
      (w, proof) => call(w, w.tpp, token, CONSENTS, { body, proof }),
    ],
    "POST domestic-payment-consents, one key": [
      "POST",
      CONSENTS,
      token,
      (w, proof) => call(w, w.tpp, token, CONSENTS, { body, proof, idempotencyKey: "k" }),
    ],
    "POST domestic-payment-consents, a key that is answered already": [
      "POST",
      CONSENTS,
      token,
      (w, proof) => call(w, w.tpp, token, CONSENTS, { body, proof, idempotencyKey: "k" }),
    ],
    "POST domestic-payments": ["POST", PAYMENTS, flow.payment, (w, proof) => pay(w, flow, { proof })],
  };
  await steps(t, served, async ([method, path, { token: accessToken, key }, attempt]) => {
    const proof = await dpopProof(env, key, { method, url: BASE_URL + path, accessToken });
    const answers = await volley(env, SHOTS, (loading, number) => attempt(loading, proof, number));
    assertEquals(tally(answers), { [method === "GET" ? 200 : 201]: 1, 401: SHOTS - 1 });
    for (const answer of answers.filter(({ status }) => status === 401)) {
      await assertChallenge(answer, 401, USED_PROOF);
    }
  });
});

test("of 40 parallel requests with one DPoP proof that are to be rejected exactly one is told why [DP-N14]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const target = { method: "POST", url: BASE_URL + CONSENTS, accessToken: token.token };
  const proof = await dpopProof(env, token.key, target);
  const answers = await volley(
    env,
    SHOTS,
    (loading) => call(loading, env.tpp, token, CONSENTS, { body: "{}", proof }),
  );
  assertEquals(tally(answers), { 400: 1, 401: SHOTS - 1 });
  for (const answer of answers.filter(({ status }) => status === 401)) {
    await assertChallenge(answer, 401, USED_PROOF);
  }
});

test("of 40 parallel POST domestic-payment-consents with a jti whose replay record has expired exactly one is served [DP-N14]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const claims = { jti: crypto.randomUUID() };
  const attempt = (loading: Environment): Promise<Response> =>
    call(loading, env.tpp, token, CONSENTS, {
      body: JSON.stringify(consentBody()),
      proofChanges: { claims },
    });
  await good(attempt(env), 201);
  env.now += 120_000;
  const answers = await volley(env, SHOTS, attempt);
  assertEquals(tally(answers), { 201: 1, 401: SHOTS - 1 });
  assertEquals(env.logged.filter((line) => line.includes("request.failed")), []);
});

test("a funds confirmation that races the payment is answered or rejected, and never changes the consent [FUN-01]", async ({ env }) => {
  const flow = await authorised(env);
  const funds = `${CONSENTS}/${flow.consentId}/funds-confirmation`;
  const answers = await volley(
    env,
    SHOTS,
    (loading, number) =>
      number === SHOTS / 2 ? pay(loading, flow) : call(loading, env.tpp, flow.bound, funds),
  );
  for (const [number, answer] of answers.entries()) {
    const wanted = number === SHOTS / 2 ? [201] : [200, 400];
    assertEquals(wanted.includes(answer.status), true, `${number}: ${answer.status}`);
  }
  const consent = await good<Consent>(call(env, env.tpp, flow.bound, `${CONSENTS}/${flow.consentId}`), 200);
  assertEquals(consent.Data.Status, "Consumed");
});

test("40 parallel payments of 8 consents, five retries each, make 8 payments [PAY-01]", async ({ env }) => {
  const flows: Awaited<ReturnType<typeof authorised>>[] = [];
  for (let number = 0; number < 8; number++) flows.push(await authorised(env));
  const answers = await volley(env, SHOTS, (loading, number) => {
    const flow = flows[number % flows.length];
    if (flow === undefined) throw new Error("no flow");
    const body = JSON.stringify(paymentBody(flow.consentId, flow.body));
    return pay(loading, flow, { idempotencyKey: `k${number % flows.length}`, body });
  });
  assertEquals((await idsOf(answers, "DomesticPaymentId")).length, flows.length);
  assertEquals(await stored(env, "payment"), flows.length);
});

/** The address of a payment. */
async function createdPayment(env: Environment): Promise<string> {
  const { Data } = await good(pay(env, await authorised(env)), 201);
  return `${PAYMENTS}/${Data.DomesticPaymentId}`;
}
