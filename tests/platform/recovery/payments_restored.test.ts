/** A store that has lost its last commits: what was granted before is void, and no payment is executed twice. */
import { assertEquals } from "@std/assert";
import { type ConsentId, paymentIdOf } from "../../../src/base/kernel/identifiers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  DEBTOR_ACCOUNT,
  good,
  type Json,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorise, authorised, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { down, later, openPushEnvironment, orderIdOf, outboxOrder, paid } from "support/orders.ts";
import { copyOf, endHolds, goBackTo, restore } from "support/restored_store.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

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

Deno.test("paymentIdOf is the version 8 UUID of SHA-256 over the label and the consent id [G9]", async () => {
  const consentId = "3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11" as ConsentId;
  // printf 'domestic payment of consent 3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11' | sha256sum
  assertEquals(await paymentIdOf(consentId), "d19e5b07-6460-862c-86c8-8649c6b19f50");
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
  assertEquals([answer.status, (await answer.json()).error], [400, "invalid_grant"]);
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
  assertEquals([order?.dead, order?.failures], [false, 1]);
});

Deno.test("while a bank is not reconciled its TPPs read 503, never that a payment does not exist [G9]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const copy = await copyOf(env);
  const { Data } = await good(pay(env, flow), 201);
  await restore(env, copy);
  const bound = await boundInStore(env);
  const requests: Record<string, () => Promise<Response>> = {
    "a lost payment by its id": () => get(env, bound, `domestic-payments/v1/${Data.DomesticPaymentId}`),
    "a lost payment by its key": () => get(env, bound, "domestic-payments/v1?idempotency-key=k"),
    "a voided consent": () => get(env, bound, `domestic-payment-consents/v1/${flow.consentId}`),
    "a new consent": () =>
      call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1", {
        body: JSON.stringify(consentBody()),
      }),
    "a pushed request": () => push(env, flow.consentId),
    "a token": () => requestToken(env, env.tpp),
  };
  await steps(t, requests, async (request) => {
    const answer = await request();
    assertEquals([answer.status, answer.headers.get("retry-after")], [503, "60"]);
    await answer.body?.cancel();
  });
  await t.step("the bank itself goes on", async () => {
    await clientToken(env, env.bankA, "BANKA");
  });
  await t.step("and afterwards answers are as before", async () => {
    await endHolds(env);
    assertEquals((await get(env, bound, `domestic-payment-consents/v1/${flow.consentId}`)).status, 200);
  });
});

Deno.test("an order that was held for more than a day is given up: the operator decides [G5] [G9]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, await copyOf(env));
  await later(env, 10_000);
  env.now += 86_400_001;
  env.pushes.length = 0;
  await endHolds(env);
  await later(env, 1_000);
  assertEquals([(await outboxOrder(env, id))?.dead, env.pushes.length], [true, 0]);
});

Deno.test("a second restore asks banks as far back as the first, if they were not reconciled [G9]", async () => {
  await using env = await openEnvironment();
  await restore(env, await copyOf(env));
  const sinceOf = async (): Promise<number> =>
    (await env.store.get<{ since: number }>(["order_hold", "BANKA"]))?.value.since ?? NaN;
  const first = await sinceOf();
  env.now += 3 * 86_400_000;
  await restore(env, await copyOf(env));
  assertEquals(await sinceOf(), first);
});

Deno.test("a store with many long pushed requests is restored as well [G9]", async () => {
  await using env = await openEnvironment();
  const value = {
    clientId: env.tpp.clientId,
    bank: "BANKA",
    consentId: crypto.randomUUID(),
    redirectUri: "x".repeat(6000),
    codeChallenge: "x".repeat(43),
    expiresAt: env.now + 60_000,
    completed: false,
  };
  for (let count = 0; count < 300; count++) {
    const key = ["pushed_request", `request-${count}`];
    await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  }
  await restore(env, await copyOf(env));
  const ended = await env.store.list<{ expiresAt: number }>({ prefix: ["pushed_request"], limit: 1000 });
  assertEquals([ended.length, new Set(ended.map(({ value }) => value.expiresAt))], [300, new Set([env.now])]);
});

Deno.test("a store that is no copy begins no epoch", async () => {
  await using env = await openPushEnvironment();
  await paid(env);
  const before = await env.snapshot();
  await env.restart();
  assertEquals(await env.snapshot(), before);
});

Deno.test("a restore is logged with what it voided [G9]", async () => {
  await using env = await openEnvironment();
  await authorised(env);
  await restore(env, await copyOf(env));
  const lines: Json[] = env.logged.map((line) => JSON.parse(line));
  const line = lines.find(({ event }) => event === "store.restored");
  assertEquals([line.level, line.banksHeld, line.consentsVoided], ["warn", 2, 1]);
});

async function statusOfConsent(env: Environment, consentId: string): Promise<string> {
  const bound = await clientToken(env, env.tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  return (await good(call(env, env.tpp, bound, path), 200)).Data.Status;
}

/** A token that a TPP got after the restore and before the hold was looked at: the strictest case for the reads. */
async function boundInStore(env: Environment): Promise<BoundToken> {
  const holds = await env.store.list({ prefix: ["order_hold"], limit: 100 });
  await endHolds(env);
  const bound = await clientToken(env, env.tpp);
  const writes = holds.map(({ key, value }) => ({ kind: "set", key, value }) as const);
  await env.store.commit({ checks: [], writes });
  return bound;
}

function get(env: Environment, bound: BoundToken, path: string): Promise<Response> {
  return call(env, env.tpp, bound, `/BANKA/${path}`);
}
