/** Deadlines of consents, read before and after the sweeper has written them down [STA-01, C12, C15]. */
import { assertEquals } from "@std/assert";
import { historyOf } from "../../../src/platform/audit_trail.ts";
import {
  authorised,
  call,
  clientToken,
  createConsent,
  good,
  type Json,
  pay,
} from "../../../scripts/testing/flows.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

async function statusOf(world: World, consentId: string): Promise<Json> {
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  const { Data } = await good(call(world, world.tpp, await clientToken(world, world.tpp), path), 200);
  return [Data.Status, Data.StatusUpdateDateTime];
}

Deno.test("a consent that nobody authorised is Rejected at its deadline, read or swept, with one time [STA-01, C12]", async () => {
  await using world = await openWorld();
  const { Data } = await createConsent(world, await clientToken(world, world.tpp));
  world.now += 86_399_000;
  assertEquals(await statusOf(world, Data.ConsentId), ["AwaitingAuthorisation", "2040-01-15T12:00:00+00:00"]);
  assertEquals(await world.platform.sweepConsents(), 0);
  world.now += 5000;
  const rejected = ["Rejected", "2040-01-16T12:00:00+00:00"];
  assertEquals(await statusOf(world, Data.ConsentId), rejected);
  assertEquals(await world.platform.sweepConsents(), 1);
  assertEquals(await world.platform.sweepConsents(), 0);
  assertEquals(await statusOf(world, Data.ConsentId), rejected);
  const history = await historyOf(world.store, Data.ConsentId);
  assertEquals(history.map(({ event, actor, reason }) => [event, actor, reason]), [
    ["consent.AwaitingAuthorisation", world.tpp.clientId, "created"],
    ["consent.Rejected", "clock", "not authorised in time"],
  ]);
});

Deno.test("an authorised consent that nobody used is Rejected an hour later; a used one stays Consumed [STA-01, C15]", async () => {
  await using world = await openWorld();
  const unused = await authorised(world);
  const used = await authorised(world);
  await good(pay(world, used), 201);
  world.now += 3_600_000;
  assertEquals(await world.platform.sweepConsents(), 1);
  assertEquals(await statusOf(world, unused.consentId), ["Rejected", "2040-01-15T13:00:00+00:00"]);
  assertEquals((await statusOf(world, used.consentId))[0], "Consumed");
  assertEquals((await world.store.list({ prefix: ["consent_deadline"], limit: 10 })).length, 0);
});

Deno.test("GET domestic-payments finds what an idempotency key made, for its owner and for 24 h [I1]", async () => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const payment = await good(pay(world, flow, { idempotencyKey: "order-1001" }), 201);
  const path = "/BANKA/domestic-payments/v1?idempotency-key=order-1001";
  const own = await clientToken(world, world.tpp);
  assertEquals(
    (await good(call(world, world.tpp, own, path), 200)).Data.DomesticPaymentId,
    payment.Data.DomesticPaymentId,
  );
  const other = await clientToken(world, world.otherTpp);
  const refused = await good(call(world, world.otherTpp, other, path), 400);
  assertEquals(refused.Errors[0].ErrorCode, "UK.OBIE.Resource.NotFound");
  assertEquals((await call(world, world.tpp, own, `${path}x`)).status, 400);
  world.now += 86_400_000;
  assertEquals((await call(world, world.tpp, await clientToken(world, world.tpp), path)).status, 400);
});
