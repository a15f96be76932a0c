/** A store that has lost its last commits: what was granted before is void, and no payment is executed twice. */
import { assertEquals } from "@std/assert";
import { type ConsentId, paymentIdOf } from "../../../src/base/kernel/identifiers.ts";
import {
  authorise,
  authorised,
  type BoundToken,
  call,
  clientToken,
  codeOf,
  consentBody,
  DEBTOR_ACCOUNT,
  good,
  type Json,
  pay,
  push,
  redeem,
  requestToken,
  toBank,
} from "../../../scripts/testing/flows.ts";
import { down, later, openPushWorld, orderIdOf, outboxOrder, paid } from "../../support/orders.ts";
import { copyOf, endHolds, goBackTo, restore } from "../../support/restored_store.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

Deno.test("a payment repeated after the store lost it has the same id, so the bank executes it once [G9]", async () => {
  await using world = await openPushWorld();
  const flow = await authorised(world);
  const before = await copyOf(world);
  const first = await good(pay(world, flow, { idempotencyKey: "a-key-of-the-shop" }), 201);
  await goBackTo(world, before);
  const second = await good(pay(world, flow, { idempotencyKey: "a-key-of-the-shop" }), 201);
  const id = first.Data.DomesticPaymentId;
  assertEquals(second.Data.DomesticPaymentId, id);
  assertEquals(world.pushes.map(orderIdOf), [id, id]);
});

Deno.test("paymentIdOf is the version 8 UUID of SHA-256 over the label and the consent id [G9]", async () => {
  const consentId = "3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11" as ConsentId;
  // printf 'domestic payment of consent 3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11' | sha256sum
  assertEquals(await paymentIdOf(consentId), "d19e5b07-6460-862c-86c8-8649c6b19f50");
});

Deno.test("after a restore the tokens of before are unknown [G9]", async () => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const ownToken = await clientToken(world, world.tpp);
  await restore(world, await copyOf(world));
  assertEquals((await pay(world, flow)).status, 401, "the token of the authorization code");
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  assertEquals((await call(world, world.tpp, ownToken, path)).status, 401, "client credentials");
});

Deno.test("after a restore Authorized consents of before are Rejected and others are as they were [G9]", async () => {
  await using world = await openWorld();
  const [used, unused, open] = [await authorised(world), await authorised(world), await toBank(world)];
  await good(pay(world, used), 201);
  await restore(world, await copyOf(world));
  await endHolds(world);
  assertEquals(
    await Promise.all([used, unused, open].map(({ consentId }) => statusOfConsent(world, consentId))),
    ["Consumed", "Rejected", "AwaitingAuthorisation"],
  );
});

Deno.test("after a restore a code of before is not redeemed [G9]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const code = codeOf(await authorise(world, flow));
  await restore(world, await copyOf(world));
  assertEquals(await world.store.list({ prefix: ["authorization_code"], limit: 1 }), []);
  await endHolds(world);
  const answer = await redeem(world, { consentId: flow.consentId, code });
  assertEquals([answer.status, (await answer.json()).error], [400, "invalid_grant"]);
});

Deno.test("after a restore an authorization session of before authorises nothing [G9]", async () => {
  await using world = await openWorld();
  const implicit = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  const flow = await toBank(world, { body: implicit });
  await restore(world, await copyOf(world));
  const answer = await authorise(world, flow);
  assertEquals(new URL(answer.headers.get("location") ?? "none:").searchParams.get("code"), null);
  await endHolds(world);
  assertEquals(await statusOfConsent(world, flow.consentId), "AwaitingAuthorisation");
});

Deno.test("after a restore the TPP can start again with a consent that still awaits authorisation [G9]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  await restore(world, await copyOf(world));
  await endHolds(world);
  assertEquals((await push(world, flow.consentId)).status, 201);
  await good(pay(world, await authorised(world)), 201);
});

Deno.test("after a restore orders are held, not failed [G9]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  await restore(world, await copyOf(world));
  world.pushes.length = 0;
  await later(world, 3_600_000);
  assertEquals(world.pushes, []);
  const order = await outboxOrder(world, id);
  assertEquals([order?.dead, order?.failures], [false, 1]);
});

Deno.test("while a bank is not reconciled its TPPs read 503, never that a payment does not exist [G9]", async (t) => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const copy = await copyOf(world);
  const { Data } = await good(pay(world, flow), 201);
  await restore(world, copy);
  const bound = await boundInStore(world);
  const requests: Record<string, () => Promise<Response>> = {
    "a lost payment by its id": () => get(world, bound, `domestic-payments/v1/${Data.DomesticPaymentId}`),
    "a lost payment by its key": () => get(world, bound, "domestic-payments/v1?idempotency-key=k"),
    "a voided consent": () => get(world, bound, `domestic-payment-consents/v1/${flow.consentId}`),
    "a new consent": () =>
      call(world, world.tpp, bound, "/BANKA/domestic-payment-consents/v1", {
        body: JSON.stringify(consentBody()),
      }),
    "a pushed request": () => push(world, flow.consentId),
    "a token": () => requestToken(world, world.tpp),
  };
  for (const [name, request] of Object.entries(requests)) {
    await t.step(name, async () => {
      const answer = await request();
      assertEquals([answer.status, answer.headers.get("retry-after")], [503, "60"]);
      await answer.body?.cancel();
    });
  }
  await t.step("the bank itself goes on", async () => {
    await clientToken(world, world.bankA, "BANKA");
  });
  await t.step("and afterwards answers are as before", async () => {
    await endHolds(world);
    assertEquals(
      (await get(world, bound, `domestic-payment-consents/v1/${flow.consentId}`)).status,
      200,
    );
  });
});

Deno.test("an order that was held for more than a day is given up: the operator decides [G5] [G9]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  await restore(world, await copyOf(world));
  await later(world, 10_000);
  world.now += 86_400_001;
  world.pushes.length = 0;
  await endHolds(world);
  await later(world, 1_000);
  assertEquals([(await outboxOrder(world, id))?.dead, world.pushes.length], [true, 0]);
});

Deno.test("a second restore asks banks as far back as the first, if they were not reconciled [G9]", async () => {
  await using world = await openWorld();
  await restore(world, await copyOf(world));
  const sinceOf = async (): Promise<number> =>
    (await world.store.get<{ since: number }>(["order_hold", "BANKA"]))?.value.since ?? NaN;
  const first = await sinceOf();
  world.now += 3 * 86_400_000;
  await restore(world, await copyOf(world));
  assertEquals(await sinceOf(), first);
});

Deno.test("a store with many long pushed requests is restored as well [G9]", async () => {
  await using world = await openWorld();
  const value = { expiresAt: world.now + 60_000, redirectUri: "x".repeat(6000) };
  for (let count = 0; count < 300; count++) {
    const key = ["pushed_request", `request-${count}`];
    await world.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  }
  await restore(world, await copyOf(world));
  const ended = await world.store.list<{ expiresAt: number }>({ prefix: ["pushed_request"], limit: 1000 });
  assertEquals([ended.length, new Set(ended.map(({ value }) => value.expiresAt))], [
    300,
    new Set([world.now]),
  ]);
});

Deno.test("a store that is no copy begins no epoch", async () => {
  await using world = await openPushWorld();
  await paid(world);
  const before = await world.snapshot();
  await world.restart();
  assertEquals(await world.snapshot(), before);
});

Deno.test("a restore is logged with what it voided [G9]", async () => {
  await using world = await openWorld();
  await authorised(world);
  await restore(world, await copyOf(world));
  const lines: Json[] = world.logged.map((line) => JSON.parse(line));
  const line = lines.find(({ event }) => event === "store.restored");
  assertEquals([line.level, line.banksHeld, line.consentsVoided], ["warn", 2, 1]);
});

async function statusOfConsent(world: World, consentId: string): Promise<string> {
  const bound = await clientToken(world, world.tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  return (await good(call(world, world.tpp, bound, path), 200)).Data.Status;
}

/** A token that a TPP got after the restore and before the hold was looked at: the strictest case for the reads. */
async function boundInStore(world: World): Promise<BoundToken> {
  const holds = await world.store.list({ prefix: ["order_hold"], limit: 100 });
  await endHolds(world);
  const bound = await clientToken(world, world.tpp);
  const writes = holds.map(({ key, value }) => ({ kind: "set", key, value }) as const);
  await world.store.commit({ checks: [], writes });
  return bound;
}

function get(world: World, bound: BoundToken, path: string): Promise<Response> {
  return call(world, world.tpp, bound, `/BANKA/${path}`);
}
