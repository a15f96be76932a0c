/** How long an idempotency key is taken, and what its resource looks like by then (contract IK1 to IK13; Decision C4). */
import { assertEquals, assertNotEquals } from "@std/assert";
import type { CreatedConsent } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  dpopKey,
  good,
  pay,
  paymentBody,
  push,
  type SentConsent,
} from "testing/flows.ts";
import {
  type AtBank,
  authorise,
  authorised,
  authorize,
  Browser,
  codeOf,
  openHandover,
  redeem,
} from "testing/authorization_flow.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { test } from "support/environment_test.ts";
import { type Environment } from "testing/environment.ts";

function post(
  env: Environment,
  token: BoundToken,
  key: string,
  body: SentConsent = consentBody(),
): Promise<Response> {
  return call(env, env.tpp, token, CONSENTS, { body: JSON.stringify(body), idempotencyKey: key });
}

async function payments(env: Environment): Promise<number> {
  return (await env.snapshot()).filter(({ key }) => key[0] === "payment").length;
}

/** Brings the customer of a consent to bank A. */
async function leave(env: Environment, bound: BoundToken, consentId: string): Promise<AtBank> {
  const { request_uri: requestUri } = await good(push(env, consentId), 201);
  const browser = new Browser(env);
  const departure = await authorize(browser, env.tpp, requestUri);
  const handover = (await openHandover(env.bankA, departure)).claims;
  return { browser, bank: env.bankA, bound, consentId, requestUri, handover };
}

test("a rejected request leaves its key free for the corrected one [IDE-08]", async ({ env, t }) => {
  const token = await clientToken(env, env.tpp);
  await t.step("consent with a bad field", async () => {
    await assertFaults(
      await post(env, token, "k", consentBody({ initiation: { InstructedAmount: undefined } })),
      400,
      [["Field.Missing", "Data.Initiation.InstructedAmount"]],
    );
    await good(post(env, token, "k"), 201);
  });
  const flow = await authorised(env);
  const attempt = (options = {}): Promise<Response> => pay(env, flow, { idempotencyKey: "p", ...options });
  await t.step("payment that differs from its consent, then without signature, then right", async () => {
    const differing = { ...paymentBody(flow.consentId, flow.body), Risk: { MerchantCategoryCode: "5732" } };
    assertEquals((await attempt({ body: JSON.stringify(differing) })).status, 400);
    assertEquals((await attempt({ signature: null })).status, 400);
    await good(attempt(), 201);
  });
});

test("POST domestic-payment-consents answers a retry with the consent's status of now [IDE-09]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  const first = await good<CreatedConsent>(post(env, bound, "k"), 201);
  const isNow = async (Status: string, StatusUpdateDateTime: string): Promise<void> => {
    await t.step(Status, async () => {
      const changed = { ...first, Data: { ...first.Data, Status, StatusUpdateDateTime } };
      assertEquals(await good(post(env, bound, "k"), 201), changed);
    });
  };
  const flow = await leave(env, bound, first.Data.ConsentId);
  await isNow("AwaitingAuthorisation", "2040-01-15T12:00:00+00:00");
  env.now += 60_000;
  const code = codeOf(await authorise(env, flow));
  await isNow("Authorized", "2040-01-15T12:01:00+00:00");
  const token = await good(redeem(env, { consentId: flow.consentId, code }), 200);
  env.now += 60_000;
  const payment = { token: token.access_token, key: await dpopKey() };
  await good(pay(env, { ...flow, payment, body: consentBody() }), 201);
  await isNow("Consumed", "2040-01-15T12:02:00+00:00");
});

test("POST domestic-payment-consents answers a retry after the deadline with Rejected, though its CompletionDateTime is past by then [IDE-09] [STA-01]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const data = { Authorisation: { AuthorisationType: "Any", CompletionDateTime: "2040-01-15T12:10:00Z" } };
  const first = await good<CreatedConsent>(post(env, bound, "k", consentBody({ data })), 201);
  env.now += 700_000;
  const { Data } = await good<CreatedConsent>(post(env, bound, "k", consentBody({ data })), 201);
  assertEquals(Data, {
    ...first.Data,
    Status: "Rejected",
    StatusReasonCode: "DS24",
    StatusUpdateDateTime: "2040-01-15T12:10:00+00:00",
  });
});

test("a key is free again 24 h after its first use, not before, and a payment stays the only one [IDE-10]", async ({ env, t }) => {
  const used = env.now;
  const first = await good<CreatedConsent>(post(env, await clientToken(env, env.tpp), "k"), 201);
  const flow = await authorised(env);
  await good(pay(env, flow, { idempotencyKey: "p" }), 201);
  const late = async (key: string): Promise<CreatedConsent> =>
    good(post(env, await clientToken(env, env.tpp), key), 201);
  const foundBy = async (key: string): Promise<number> => {
    const bound = await clientToken(env, env.tpp);
    return (await call(env, env.tpp, bound, `/BANKA/domestic-payments/v1?idempotency-key=${key}`)).status;
  };
  await t.step("a moment before, whatever retries there were", async () => {
    env.now = used + 43_200_000;
    assertEquals((await late("k")).Data.ConsentId, first.Data.ConsentId);
    env.now = used + 86_399_999;
    assertEquals((await late("k")).Data.ConsentId, first.Data.ConsentId);
    assertEquals(await foundBy("p"), 200);
  });
  env.now = used + 86_400_000;
  await t.step("no payment is found by its key", async () => assertEquals(await foundBy("p"), 400));
  await t.step("a consent more, and the key is used again", async () => {
    const second = await late("k");
    assertNotEquals(second.Data.ConsentId, first.Data.ConsentId);
    assertEquals((await late("k")).Data.ConsentId, second.Data.ConsentId);
  });
  await t.step("no payment more: its token is gone and none is to be had", async () => {
    assertEquals((await pay(env, flow, { idempotencyKey: "p" })).status, 401);
    assertEquals(await payments(env), 1);
  });
  await t.step("the payment's key pays another consent", async () => {
    await good(pay(env, await authorised(env), { idempotencyKey: "p" }), 201);
    assertEquals(await payments(env), 2);
  });
});
