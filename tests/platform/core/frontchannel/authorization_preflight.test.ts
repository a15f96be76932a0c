/** Before a customer leaves for the bank: whether it can take them on, from signing in to the payment. */
import { assertEquals } from "@std/assert";
import { IMPLICIT } from "testing/bank_return.ts";
import { good, pay } from "testing/flows.ts";
import { authorise, authorised, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer, assertErrorAnswer, consentStatus } from "testing/front_channel.ts";
import { depart, leavesForBank, pushed } from "support/departures.ts";
import {
  accepts,
  down,
  later,
  openPushEnvironment,
  paid,
  type PushEnvironment,
  statusOf,
} from "support/orders.ts";
import { unchanged } from "testing/store_contents.ts";

/** Failures in a row after which a bank is left alone, and for how long. */
const FAILURES = 5;
const PAUSE_MS = 30_000;

Deno.test("GET authorization.oauth2 redirects no customer to a bank that does not take payment orders: temporarily_unavailable [AZ9] [B5] [D4]", async (t) => {
  await using env = await openPushEnvironment(down);
  const atBank = await toBank(env, { body: IMPLICIT });
  const link = await pushed(env, "BANKA");
  for (let failure = 1; failure < FAILURES; failure++) await paid(env);
  await t.step("four failures say nothing yet", async () => {
    assertEquals((await depart(env, link)).status, 303);
    assertEquals(await leavesForBank(env, link), true);
  });
  const waiting = await authorised(env);
  const last = await paid(env);
  await t.step("five in a row do", async () => {
    const answer = await unchanged(env, () => depart(env, link));
    assertEquals(answer.headers.getSetCookie(), []);
    await assertErrorAnswer(answer, "temporarily_unavailable");
    assertEquals(await consentStatus(env, link), "AwaitingAuthorisation");
  });
  await t.step("another bank's customers leave", async () => {
    assertEquals(await leavesForBank(env, await pushed(env, "BANKB")), true);
  });
  await t.step("who is at the bank already comes back", async () => {
    await assertCodeAnswer(await authorise(env, atBank));
  });
  await t.step("asking is not trying: the bank's pause is no longer for it", async () => {
    env.now += PAUSE_MS - 1;
    await assertErrorAnswer(await depart(env, link), "temporarily_unavailable");
    env.now += 1;
    assertEquals(await leavesForBank(env, link), true);
  });
  await t.step(
    "orders that have failed before keep no customer away, however often they fail again",
    async () => {
      await later(env, 1000);
      assertEquals(await leavesForBank(env, link), true);
    },
  );
  await t.step("an order that has not does", async () => {
    await good(pay(env, waiting), 201);
    await assertErrorAnswer(await depart(env, link), "temporarily_unavailable");
  });
  await t.step("as soon as it takes an order they leave again, with the same link", async () => {
    env.answer = accepts;
    await later(env, PAUSE_MS); // one order tries, the others wait for what it finds
    await later(env, PAUSE_MS);
    assertEquals(await statusOf(env, last.DomesticPaymentId), "AcceptedSettlementInProcess");
    assertEquals(await leavesForBank(env, link), true);
  });
});

Deno.test("GET authorization.oauth2: failed pushes say nothing of a bank that fetches its orders by now [AZ9] [D2]", async () => {
  await using env = await openPushEnvironment(down);
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  for (let failure = 1; failure < FAILURES; failure++) await paid(env);
  const link = await pushed(env, "BANKA");
  await assertErrorAnswer(await depart(env, link), "temporarily_unavailable");
  await withoutOrdersUri(env);
  assertEquals(await leavesForBank(env, link), true);
});

/** The bank's registration without a `payment_orders_uri`, as a newer software statement would make it. */
async function withoutOrdersUri(env: PushEnvironment): Promise<void> {
  const key = ["bank", "BANKA"];
  const registered = await env.store.get<Record<string, unknown>>(key);
  const { paymentOrdersUri: _, ...value } = registered?.value ?? {};
  assertEquals(await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] }), true);
}
