/** Before a customer leaves for the bank: whether it can take them on, from signing in to the payment. */
import { assertEquals } from "@std/assert";
import { IMPLICIT } from "../../../scripts/testing/bank_return.ts";
import { authorise, authorised, good, pay, toBank } from "../../../scripts/testing/flows.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  consentStatus,
} from "../../../scripts/testing/front_channel.ts";
import { depart, leavesForBank, pushed } from "../../support/departures.ts";
import { accepts, down, later, openPushWorld, paid, type PushWorld, statusOf } from "../../support/orders.ts";

/** Failures in a row after which a bank is left alone, and for how long. */
const FAILURES = 5;
const PAUSE_MS = 30_000;

Deno.test("GET authorization.oauth2 sends nobody to a bank that does not take payment orders: temporarily_unavailable [AZ9] [B5] [D4]", async (t) => {
  await using world = await openPushWorld(down);
  const atBank = await toBank(world, { body: IMPLICIT });
  const link = await pushed(world, "BANKA");
  for (let failure = 1; failure < FAILURES; failure++) await paid(world);
  await t.step("four failures say nothing yet", async () => {
    assertEquals((await depart(world, link)).status, 303);
    assertEquals(await leavesForBank(world, link), true);
  });
  const waiting = await authorised(world);
  const last = await paid(world);
  await t.step("five in a row do", async () => {
    const answer = await assertNothingChanges(world, () => depart(world, link));
    assertEquals(answer.headers.getSetCookie(), []);
    await assertErrorAnswer(answer, "temporarily_unavailable");
    assertEquals(await consentStatus(world, link), "AwaitingAuthorisation");
  });
  await t.step("another bank's customers leave", async () => {
    assertEquals(await leavesForBank(world, await pushed(world, "BANKB")), true);
  });
  await t.step("who is at the bank already comes back", async () => {
    await assertCodeAnswer(await authorise(world, atBank));
  });
  await t.step("asking is not trying: the bank's pause is no longer for it", async () => {
    world.now += PAUSE_MS - 1;
    await assertErrorAnswer(await depart(world, link), "temporarily_unavailable");
    world.now += 1;
    assertEquals(await leavesForBank(world, link), true);
  });
  await t.step(
    "orders that have failed before keep no customer away, however often they fail again",
    async () => {
      await later(world, 1000);
      assertEquals(await leavesForBank(world, link), true);
    },
  );
  await t.step("an order that has not does", async () => {
    await good(pay(world, waiting), 201);
    await assertErrorAnswer(await depart(world, link), "temporarily_unavailable");
  });
  await t.step("as soon as it takes an order they leave again, with the same link", async () => {
    world.answer = accepts;
    await later(world, PAUSE_MS); // one order tries, the others wait for what it finds
    await later(world, PAUSE_MS);
    assertEquals(await statusOf(world, last.DomesticPaymentId), "AcceptedSettlementInProcess");
    assertEquals(await leavesForBank(world, link), true);
  });
});

Deno.test("GET authorization.oauth2: failed pushes say nothing of a bank that fetches its orders by now [AZ9] [D2]", async () => {
  await using world = await openPushWorld(down);
  const flow = await authorised(world);
  await good(pay(world, flow), 201);
  for (let failure = 1; failure < FAILURES; failure++) await paid(world);
  const link = await pushed(world, "BANKA");
  await assertErrorAnswer(await depart(world, link), "temporarily_unavailable");
  await withoutOrdersUri(world);
  assertEquals(await leavesForBank(world, link), true);
});

/** The bank's registration without a `payment_orders_uri`, as a newer software statement would make it. */
async function withoutOrdersUri(world: PushWorld): Promise<void> {
  const key = ["bank", "BANKA"];
  const registered = await world.store.get<Record<string, unknown>>(key);
  const { paymentOrdersUri: _, ...value } = registered?.value ?? {};
  assertEquals(await world.store.commit({ checks: [], writes: [{ kind: "set", key, value }] }), true);
}
