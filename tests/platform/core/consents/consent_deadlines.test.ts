/** Deadlines of consents, read before and after the sweeper has written them down [STA-01, CT12, CT15]. */
import { assertEquals } from "@std/assert";
import type { JsonObject } from "testing/jwts.ts";
import { call, clientToken, consentBody, createConsent, dpopKey, good, pay, push } from "testing/flows.ts";
import { authorise, authorised, codeOf, redeem, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertBare, assertFaults } from "testing/resource_answers.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { read } from "./read_consent.ts";
import { unchanged } from "testing/store_contents.ts";
import { historyOf } from "testing/histories.ts";
import type { Consent, Payment, ResourceError } from "testing/answers.ts";

Deno.test("a consent that was not authorised is rejected at its deadline, once and for all [STA-01]", async (t) => {
  const cases: Record<string, readonly [JsonObject, number, string]> = {
    "24 h after its creation": [{}, 86_400_000, "2040-01-16T12:00:00+00:00"],
    "at its CompletionDateTime": [
      { Authorisation: { AuthorisationType: "Any", CompletionDateTime: "2040-01-15T13:30:00+01:00" } },
      1_800_000,
      "2040-01-15T12:30:00+00:00",
    ],
    "24 h after its creation although CompletionDateTime is later": [
      { Authorisation: { AuthorisationType: "Any", CompletionDateTime: "2040-02-15T12:00:00Z" } },
      86_400_000,
      "2040-01-16T12:00:00+00:00",
    ],
  };
  await steps(t, cases, async ([data, lifetime, deadline]) => {
    await using env = await openEnvironment();
    const created = env.now;
    const { ConsentId } =
      (await createConsent(env, await clientToken(env, env.tpp), consentBody({ data }))).Data;
    env.now = created + lifetime - 1;
    assertEquals((await read(env, ConsentId)).Status, "AwaitingAuthorisation");
    for (const later of [0, 1, 3_600_000, 30 * 86_400_000]) {
      env.now = created + lifetime + later;
      const { Status, StatusUpdateDateTime } = await read(env, ConsentId);
      assertEquals([Status, StatusUpdateDateTime], ["Rejected", deadline]);
    }
    assertEquals((await push(env, ConsentId)).status, 400);
  });
});

test("a consent whose customer comes back from the bank after the deadline stays rejected [STA-01]", async ({ env }) => {
  const data = { Authorisation: { AuthorisationType: "Any", CompletionDateTime: "2040-01-15T12:05:00Z" } };
  const debtor = { DebtorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" } };
  const flow = await toBank(env, { body: consentBody({ data, initiation: debtor }) });
  env.now += 300_000;
  const answer = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const { searchParams } = new URL(answer.headers.get("location") ?? "");
  assertEquals(searchParams.get("code"), null);
  const { Status, StatusUpdateDateTime } = await read(env, flow.consentId);
  assertEquals([Status, StatusUpdateDateTime], ["Rejected", "2040-01-15T12:05:00+00:00"]);
});

test("an authorised consent that was not used within 3600 s is rejected, once and for all [STA-01] [PAY-06] [FUN-01]", async ({ env, t }) => {
  const flow = await toBank(env);
  const code = codeOf(await authorise(env, flow));
  const authorisedAt = env.now;
  env.now += 50_000;
  const token = await good(redeem(env, { consentId: flow.consentId, code }), 200);
  const payment = { token: token.access_token, key: await dpopKey() };
  const attempt = (): Promise<Response> => pay(env, { ...flow, payment, body: consentBody() });
  env.now = authorisedAt + 3_599_999;
  await t.step("a moment before", async () => {
    assertEquals((await read(env, flow.consentId)).Status, "Authorized");
  });
  env.now = authorisedAt + 3_600_000;
  await t.step("at the deadline the payment's token lives and the consent does not", async () => {
    const status = [["Resource.InvalidConsentStatus", "Data.ConsentId"]] as const;
    await assertFaults(await unchanged(env, attempt), 400, status);
    const funds = `${CONSENTS}/${flow.consentId}/funds-confirmation`;
    await assertFaults(await unchanged(env, () => call(env, env.tpp, payment, funds)), 400, status);
  });
  for (const later of [0, 86_400_000]) {
    env.now = authorisedAt + 3_600_000 + later;
    await t.step(`read ${later / 1000} s later`, async () => {
      const { Status, StatusUpdateDateTime } = await read(env, flow.consentId);
      assertEquals([Status, StatusUpdateDateTime], ["Rejected", "2040-01-15T13:00:00+00:00"]);
    });
  }
});

test("a consumed consent stays consumed whatever time passes [STA-01]", async ({ env }) => {
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  env.now += 30 * 86_400_000;
  assertEquals((await read(env, flow.consentId)).Status, "Consumed");
});

test("an unknown bank's consents are nowhere [CON-24]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  await assertBare(
    await call(env, env.tpp, bound, `/BANKC/domestic-payment-consents/v1/${crypto.randomUUID()}`),
    404,
  );
});

async function statusOf(env: Environment, consentId: string): Promise<readonly string[]> {
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  const { Data } = await good<Consent>(call(env, env.tpp, await clientToken(env, env.tpp), path), 200);
  return [Data.Status, Data.StatusUpdateDateTime];
}

test("a consent that was not authorised is Rejected at its deadline, read or swept, with one time [STA-01, CT12]", async ({ env }) => {
  const { Data } = await createConsent(env, await clientToken(env, env.tpp));
  env.now += 86_399_000;
  assertEquals(await statusOf(env, Data.ConsentId), ["AwaitingAuthorisation", "2040-01-15T12:00:00+00:00"]);
  assertEquals(await env.platform.sweepConsents(), 0);
  env.now += 5000;
  const rejected = ["Rejected", "2040-01-16T12:00:00+00:00"];
  assertEquals(await statusOf(env, Data.ConsentId), rejected);
  assertEquals(await env.platform.sweepConsents(), 1);
  assertEquals(await env.platform.sweepConsents(), 0);
  assertEquals(await statusOf(env, Data.ConsentId), rejected);
  const history = await historyOf(env.store, Data.ConsentId);
  assertEquals(history.map(({ at, event, actor, reason }) => [at - START, event, actor, reason]), [
    [0, "consent.AwaitingAuthorisation", env.tpp.clientId, "created"],
    [86_400_000, "consent.Rejected", "clock", "not authorised in time"], // the deadline, not the time of the sweep
  ]);
});

test("an authorised consent that was not used is Rejected an hour later; a used one stays Consumed [STA-01, CT15]", async ({ env }) => {
  const unused = await authorised(env);
  const used = await authorised(env);
  await good(pay(env, used), 201);
  env.now += 3_600_000 + 7000;
  assertEquals(await env.platform.sweepConsents(), 1);
  assertEquals(await statusOf(env, unused.consentId), ["Rejected", "2040-01-15T13:00:00+00:00"]);
  assertEquals((await historyOf(env.store, unused.consentId)).at(-1)?.at, START + 3_600_000);
  assertEquals((await statusOf(env, used.consentId))[0], "Consumed");
  assertEquals((await env.store.list({ prefix: ["consent_deadline"], limit: 10 })).length, 0);
});

test("GET domestic-payments finds what an idempotency key made, for its owner and for 24 h [IK12]", async ({ env }) => {
  const flow = await authorised(env);
  const payment = await good(pay(env, flow, { idempotencyKey: "order-1001" }), 201);
  const path = "/BANKA/domestic-payments/v1?idempotency-key=order-1001";
  const own = await clientToken(env, env.tpp);
  assertEquals(
    (await good<Payment>(call(env, env.tpp, own, path), 200)).Data.DomesticPaymentId,
    payment.Data.DomesticPaymentId,
  );
  const other = await clientToken(env, env.otherTpp);
  const rejected = await good<ResourceError>(call(env, env.otherTpp, other, path), 400);
  assertEquals(rejected.Errors[0]?.ErrorCode, "UK.OBIE.Resource.NotFound");
  assertEquals((await call(env, env.tpp, own, `${path}x`)).status, 400);
  env.now += 86_400_000;
  assertEquals((await call(env, env.tpp, await clientToken(env, env.tpp), path)).status, 400);
});
