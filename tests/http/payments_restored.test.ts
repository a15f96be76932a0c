/** A store that has lost its last commits: what was granted before is void, and no payment is executed twice. */
import { assertEquals } from "@std/assert";
import { type ConsentId, paymentIdOf } from "../../src/kernel/identifiers.ts";
import {
  authorise,
  authorised,
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
  toBank,
} from "../support/flows.ts";
import { down, later, openPushWorld, orderIdOf, outboxOrder, paid } from "../support/orders.ts";
import { copyOf, goBackTo, restore } from "../support/restored_store.ts";
import { openWorld, type World } from "../support/world.ts";

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
  assertEquals(await statusOfConsent(world, flow.consentId), "AwaitingAuthorisation");
});

Deno.test("after a restore the TPP can start again with a consent that still awaits authorisation [G9]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  await restore(world, await copyOf(world));
  assertEquals((await push(world, flow.consentId)).status, 201);
  await good(pay(world, await authorised(world)), 201);
});

Deno.test("after a restore orders are held: neither the worker nor a new payment sends one [G9]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: old } = await paid(world);
  await restore(world, await copyOf(world));
  world.pushes.length = 0;
  const fresh = await paid(world);
  assertEquals(fresh.Status, "Pending");
  await later(world, 3_600_000);
  assertEquals(world.pushes, []);
  for (const id of [old, fresh.DomesticPaymentId]) {
    const order = await outboxOrder(world, id);
    assertEquals([order?.dead, order?.failures], [false, id === old ? 1 : 0], "held, not failed");
  }
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
