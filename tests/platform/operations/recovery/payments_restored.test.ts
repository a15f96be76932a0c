/** A store that has lost its last commits: what was granted before is void, and no payment is executed twice. */
import { assertEquals } from "@std/assert";
import { type ConsentId, paymentIdOf } from "../../../../src/base/kernel/identifiers.ts";
import { type Payment, rejectionOf } from "testing/answers.ts";
import { call, clientToken, consentBody, DEBTOR_ACCOUNT, good, pay, push } from "testing/flows.ts";
import { authorise, authorised, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { down, later, openPushEnvironment, orderIdOf, outboxOrder, paid } from "support/orders.ts";
import { copyOf, endHolds, goBackTo, restore } from "support/restored_store.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";

Deno.test("a payment repeated after the store lost it has the same id, so the bank executes it once [G9]", async () => {
  await using env = await openPushEnvironment();
  const flow = await authorised(env);
  const before = await copyOf(env);
  const first = await good(pay(env, flow, { idempotencyKey: "a-key-of-the-shop" }), 201);
  await goBackTo(env, before);
  const second = await good(pay(env, flow, { idempotencyKey: "a-key-of-the-shop" }), 201);
  const id = first.Data.DomesticPaymentId;
  assertEquals(second.Data.DomesticPaymentId, id);
  assertEquals(env.pushes.map(orderIdOf), [id, id]);
});

Deno.test("paymentIdOf is the version 8 UUID of the time and SHA-256 of the consent id [G9]", async () => {
  const consentId = "3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11" as ConsentId;
  // printf 'domestic payment of consent 3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11' | sha256sum
  assertEquals(await paymentIdOf(consentId), "3d9c1c6e-0f4b-862c-86c8-8649c6b19f50");
});

Deno.test("after a restore the tokens of before are unknown [G9]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const ownToken = await clientToken(env, env.tpp);
  await restore(env, await copyOf(env));
  assertEquals((await pay(env, flow)).status, 401, "the token of the authorization code");
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  assertEquals((await call(env, env.tpp, ownToken, path)).status, 401, "client credentials");
});

Deno.test("after a restore Authorized consents of before are Rejected and others are as they were [G9]", async () => {
  await using env = await openEnvironment();
  const [used, unused, open] = [await authorised(env), await authorised(env), await toBank(env)];
  await good(pay(env, used), 201);
  await restore(env, await copyOf(env));
  await endHolds(env);
  assertEquals(
    await Promise.all([used, unused, open].map(({ consentId }) => statusOfConsent(env, consentId))),
    ["Consumed", "Rejected", "AwaitingAuthorisation"],
  );
});

Deno.test("after a restore a code of before is not redeemed [G9]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const code = codeOf(await authorise(env, flow));
  await restore(env, await copyOf(env));
  assertEquals(await env.store.list({ prefix: ["authorization_code"], limit: 1 }), []);
  await endHolds(env);
  const answer = await redeem(env, { consentId: flow.consentId, code });
  assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_grant"]);
});

Deno.test("after a restore an authorization session of before authorises nothing [G9]", async () => {
  await using env = await openEnvironment();
  const implicit = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  const flow = await toBank(env, { body: implicit });
  await restore(env, await copyOf(env));
  const answer = await authorise(env, flow);
  assertEquals(new URL(answer.headers.get("location") ?? "none:").searchParams.get("code"), null);
  await endHolds(env);
  assertEquals(await statusOfConsent(env, flow.consentId), "AwaitingAuthorisation");
});

Deno.test("after a restore the TPP can start again with a consent that still awaits authorisation [G9]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await restore(env, await copyOf(env));
  await endHolds(env);
  assertEquals((await push(env, flow.consentId)).status, 201);
  await good(pay(env, await authorised(env)), 201);
});

Deno.test("after a restore orders are held, not failed [G9]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, await copyOf(env));
  env.pushes.length = 0;
  await later(env, 3_600_000);
  assertEquals(env.pushes, []);
  const order = await outboxOrder(env, id);
  assertEquals([order?.state, order?.failures], ["held", 1]);
});

Deno.test("after a restore an order may be at the bank, because the copy lacks later pushes [G9, O3]", async () => {
  await using env = await openPushEnvironment(() => new Response(null, { status: 400 }));
  const { DomesticPaymentId: id } = await paid(env);
  const before = await outboxOrder(env, id);
  assertEquals([before?.state, before?.mayBeAtBank], ["dead", false]);
  await restore(env, await copyOf(env));
  assertEquals(await outboxOrder(env, id), { ...before, mayBeAtBank: true });
});

async function statusOfConsent(env: Environment, consentId: string): Promise<string> {
  const bound = await clientToken(env, env.tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  return (await good<Payment>(call(env, env.tpp, bound, path), 200)).Data.Status;
}
