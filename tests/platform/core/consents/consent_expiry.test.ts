/** Deadlines of consents, read before and after the sweeper has written them down [STA-01, CT12, CT15]. */
import { assertEquals } from "@std/assert";
import { historyOf } from "testing/histories.ts";
import type { Consent, Payment, ResourceError } from "testing/answers.ts";
import { call, clientToken, createConsent, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { type Environment, START } from "testing/environment.ts";
import { test } from "support/environment_test.ts";

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
