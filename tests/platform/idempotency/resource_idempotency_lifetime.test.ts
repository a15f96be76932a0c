/** How long an idempotency key is taken, and what its resource looks like by then (reference 4.2, Decision C4). */
import { assertEquals, assertNotEquals } from "@std/assert";
import {
  type AtBank,
  authorise,
  authorised,
  authorize,
  type BoundToken,
  Browser,
  call,
  clientToken,
  codeOf,
  consentBody,
  dpopKey,
  good,
  type Json,
  openHandover,
  pay,
  paymentBody,
  push,
  redeem,
} from "../../../scripts/testing/flows.ts";
import { assertFaults } from "../../../scripts/testing/resource_answers.ts";
import { CONSENTS } from "../../support/resource_calls.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

function post(world: World, token: BoundToken, key: string, body: Json = consentBody()): Promise<Response> {
  return call(world, world.tpp, token, CONSENTS, { body: JSON.stringify(body), idempotencyKey: key });
}

async function payments(world: World): Promise<number> {
  return (await world.snapshot()).filter(({ key }) => key[0] === "payment").length;
}

/** Brings the customer of a consent to bank A. */
async function leave(world: World, bound: BoundToken, consentId: string): Promise<AtBank> {
  const { request_uri: requestUri } = await good(push(world, consentId), 201);
  const browser = new Browser(world);
  const departure = await authorize(browser, world.tpp, requestUri);
  const handover = (await openHandover(world.bankA, departure)).claims;
  return { browser, bank: world.bankA, bound, consentId, requestUri, handover };
}

Deno.test("a refused request leaves its key free for the corrected one [IDE-08]", async (t) => {
  await using world = await openWorld();
  const token = await clientToken(world, world.tpp);
  await t.step("consent with a bad field", async () => {
    await assertFaults(
      await post(world, token, "k", consentBody({ initiation: { InstructedAmount: undefined } })),
      400,
      [
        ["Field.Missing", "Data.Initiation.InstructedAmount"],
      ],
    );
    await good(post(world, token, "k"), 201);
  });
  const flow = await authorised(world);
  const attempt = (options = {}): Promise<Response> => pay(world, flow, { idempotencyKey: "p", ...options });
  await t.step("payment that differs from its consent, then without signature, then right", async () => {
    const differing = { ...paymentBody(flow.consentId, flow.body), Risk: { MerchantCategoryCode: "5732" } };
    assertEquals((await attempt({ body: JSON.stringify(differing) })).status, 400);
    assertEquals((await attempt({ signature: null })).status, 400);
    await good(attempt(), 201);
  });
});

Deno.test("POST domestic-payment-consents answers a retry with the consent's status of now [IDE-09]", async (t) => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const first = await good(post(world, bound, "k"), 201);
  const isNow = async (Status: string, StatusUpdateDateTime: string): Promise<void> => {
    await t.step(Status, async () => {
      const changed = { ...first, Data: { ...first.Data, Status, StatusUpdateDateTime } };
      assertEquals(await good(post(world, bound, "k"), 201), changed);
    });
  };
  const flow = await leave(world, bound, first.Data.ConsentId);
  await isNow("AwaitingAuthorisation", "2040-01-15T12:00:00+00:00");
  world.now += 60_000;
  const code = codeOf(await authorise(world, flow));
  await isNow("Authorized", "2040-01-15T12:01:00+00:00");
  const token = await good(redeem(world, { consentId: flow.consentId, code }), 200);
  world.now += 60_000;
  const payment = { token: token.access_token, key: await dpopKey() };
  await good(pay(world, { ...flow, payment, body: consentBody() }), 201);
  await isNow("Consumed", "2040-01-15T12:02:00+00:00");
});

Deno.test("POST domestic-payment-consents answers a retry after the deadline with Rejected, though its CompletionDateTime is past by then [IDE-09] [STA-01]", async () => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  const data = { Authorisation: { AuthorisationType: "Any", CompletionDateTime: "2040-01-15T12:10:00Z" } };
  const first = await good(post(world, bound, "k", consentBody({ data })), 201);
  world.now += 700_000;
  const { Data } = await good(post(world, bound, "k", consentBody({ data })), 201);
  assertEquals(Data, {
    ...first.Data,
    Status: "Rejected",
    StatusUpdateDateTime: "2040-01-15T12:10:00+00:00",
  });
});

Deno.test("a key is free again 24 h after its first use, not before, and a payment stays the only one [IDE-10]", async (t) => {
  await using world = await openWorld();
  const used = world.now;
  const first = await good(post(world, await clientToken(world, world.tpp), "k"), 201);
  const flow = await authorised(world);
  await good(pay(world, flow, { idempotencyKey: "p" }), 201);
  const late = async (key: string): Promise<Json> =>
    good(post(world, await clientToken(world, world.tpp), key), 201);
  await t.step("a moment before, whatever retries there were", async () => {
    world.now = used + 43_200_000;
    assertEquals((await late("k")).Data.ConsentId, first.Data.ConsentId);
    world.now = used + 86_399_999;
    assertEquals((await late("k")).Data.ConsentId, first.Data.ConsentId);
  });
  world.now = used + 86_400_000;
  await t.step("a consent more, and the key is used again", async () => {
    const second = await late("k");
    assertNotEquals(second.Data.ConsentId, first.Data.ConsentId);
    assertEquals((await late("k")).Data.ConsentId, second.Data.ConsentId);
  });
  await t.step("no payment more: its token is gone and none is to be had", async () => {
    assertEquals((await pay(world, flow, { idempotencyKey: "p" })).status, 401);
    assertEquals(await payments(world), 1);
  });
  await t.step("the payment's key pays another consent", async () => {
    await good(pay(world, await authorised(world), { idempotencyKey: "p" }), 201);
    assertEquals(await payments(world), 2);
  });
});
