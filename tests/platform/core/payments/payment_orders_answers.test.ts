import { assertEquals } from "@std/assert";
import { createLocalJWKSet, jwtVerify } from "jose";
import { bodyOf, type PlatformKeys } from "testing/answers.ts";
import { consentBody, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  down,
  later,
  onlyPush,
  openPushEnvironment,
  orderIdOf,
  paid,
  payment,
  silent,
  statusOf,
} from "support/orders.ts";
import { AUTH_URL } from "testing/environment.ts";
import { testTemplate } from "testing/test_store.ts";

Deno.test("POST domestic-payments takes an answer of exactly 16 KiB [D4]", async () => {
  const answer = '{"Status":"AcceptedSettlementInProcess"}';
  await using env = await openPushEnvironment(() => new Response(answer.padEnd(16_384, " ")));
  assertEquals((await paid(env)).Status, "AcceptedSettlementInProcess");
});

Deno.test(
  "POST domestic-payments waits 3 s for the bank, not longer; a push that takes longer still counts [D4]",
  {
    ignore: testTemplate() !== undefined, // PostgreSQL has a timer of 3 s as well, which would end at once here
  },
  async () => {
    const gate = Promise.withResolvers<void>();
    await using env = await openPushEnvironment(async () => {
      await gate.promise;
      return Response.json({ Status: "AcceptedSettlementInProcess" });
    });
    const flow = await authorised(env);
    using timers = instantTimers();
    const made = (await good(pay(env, flow), 201)).Data;
    assertEquals([made.Status, timers.waits], ["Pending", [3000]]);
    gate.resolve();
    await env.platform.stop(); // waits for the push
    assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementInProcess");
    assertEquals(env.pushes.length, 1);
  },
);

/** Timers of 3 s end at once and are counted, so the test does not depend on the machine. The request's body has a timer of 5 s. */
function instantTimers(): Disposable & { readonly waits: readonly number[] } {
  const original = globalThis.setTimeout;
  const waits: number[] = [];
  globalThis.setTimeout = new Proxy(original, {
    apply(timer, self, [task, delay = 0, ...given]) {
      if (delay === 3000) waits.push(delay);
      return Reflect.apply(timer, self, [task, delay === 3000 ? 0 : delay, ...given]);
    },
  });
  return { waits, [Symbol.dispose]: () => void (globalThis.setTimeout = original) };
}

Deno.test("A push is given up after 5 s and its order tried again [D4]", async () => {
  await using env = await openPushEnvironment(silent);
  const made = await paid(env);
  assertEquals(made.Status, "Pending");
  await env.platform.stop();
  assertEquals(env.pushes.map(({ signal }) => signal.aborted), [true]);
  env.answer = accepts;
  assertEquals(await later(env, 1250), 1);
  assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementInProcess");
});

Deno.test("The pushed order is a PS256 JWT of the platform for this bank, with the full initiation and the account that pays [D4]", async () => {
  await using env = await openPushEnvironment();
  const initiation = {
    CreditorPostalAddress: { TownName: "Bogota", Country: "CO" },
    RemittanceInformation: { Reference: "FRESCO-101" },
  };
  const flow = await authorised(env, { body: consentBody({ initiation }) });
  const made = (await good(pay(env, flow), 201)).Data;
  const push = onlyPush(env);
  assertEquals([push.method, push.headers.get("content-type")], ["POST", "application/jose"]);
  const jwks = await bodyOf<PlatformKeys>(env.browser(new Request(`${AUTH_URL}/jwks`)));
  const { payload, protectedHeader } = await jwtVerify(push.body, createLocalJWKSet(jwks), {
    algorithms: ["PS256"],
    issuer: AUTH_URL,
    audience: "BANKA",
    currentDate: new Date(env.now),
  });
  assertEquals([protectedHeader.alg, protectedHeader.typ], ["PS256", "JWT"]);
  const { iat = 0, exp = 0, jti } = payload;
  assertEquals([iat, exp - iat, typeof jti], [env.now / 1000, 300, "string"]);
  assertEquals(payload.aud, "BANKA"); // a string, not a list
  assertEquals(payload["Data"], {
    DomesticPaymentId: made.DomesticPaymentId,
    ConsentId: flow.consentId,
    CreationDateTime: "2040-01-15T12:00:00+00:00",
    Status: "Pending",
    StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
    Initiation: flow.body.Data.Initiation,
    DebtorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" },
    Charges: [],
  });
});

Deno.test("Each push of an order has a jti of its own and the payment's one id [D4]", async () => {
  await using env = await openPushEnvironment(down);
  const made = await paid(env);
  await later(env, 1250);
  await later(env, 2500);
  assertEquals(env.pushes.length, 3);
  assertEquals(new Set(env.pushes.map(orderIdOf)), new Set([made.DomesticPaymentId]));
  assertEquals(new Set(env.pushes.map(({ body }) => body)).size, 3);
});

Deno.test("GET domestic-payments moves StatusUpdateDateTime with the bank's late answer [PT3]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId } = await paid(env);
  env.answer = accepts;
  await later(env, 60_000);
  const { Status, CreationDateTime, StatusUpdateDateTime } = await payment(env, DomesticPaymentId);
  assertEquals([Status, CreationDateTime, StatusUpdateDateTime], [
    "AcceptedSettlementInProcess",
    "2040-01-15T12:00:00+00:00",
    "2040-01-15T12:01:00+00:00",
  ]);
});
