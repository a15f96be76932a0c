/** GET domestic-payments?idempotency-key: the payment of a TPP that has lost the answer to its POST. */
import { assertEquals } from "@std/assert";
import {
  authorised,
  type BoundToken,
  call,
  clientToken,
  consentBody,
  good,
  pay,
} from "../../../scripts/testing/flows.ts";
import { assertChallenge, assertFaults, unchanged } from "../../../scripts/testing/resource_answers.ts";
import { CONSENTS, PAYMENTS } from "../../support/resource_calls.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

function find(
  world: World,
  token: BoundToken,
  key: string,
  caller = world.tpp,
  path = PAYMENTS,
): Promise<Response> {
  return call(world, caller, token, `${path}?${new URLSearchParams({ "idempotency-key": key })}`);
}

Deno.test("GET domestic-payments?idempotency-key finds what the key has made, by either token [PAY-08] [IDE-01]", async (t) => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const key = "a key & more/%20";
  const made = await good(pay(world, flow, { idempotencyKey: key }), 201);
  for (
    const [name, token] of Object.entries({
      "client credentials": flow.bound,
      "authorization code": flow.payment,
    })
  ) {
    await t.step(name, async () => {
      assertEquals(await good(await unchanged(world, () => find(world, token, key)), 200), made);
    });
  }
});

Deno.test("GET domestic-payments?idempotency-key finds nothing else, and says so in one way: Decision C2 [PAY-08] [IDE-04]", async (t) => {
  await using world = await openWorld();
  const flow = await authorised(world);
  await good(pay(world, flow, { idempotencyKey: "k" }), 201);
  await good(
    call(world, world.tpp, flow.bound, CONSENTS, {
      body: JSON.stringify(consentBody()),
      idempotencyKey: "c",
    }),
    201,
  );
  const stranger = await clientToken(world, world.otherTpp);
  const atB = await clientToken(world, world.tpp, "BANKB");
  const attempts: Record<string, () => Promise<Response>> = {
    "an unknown key": () => find(world, flow.bound, "K"),
    "an empty key": () => find(world, flow.bound, ""),
    "no key": () => call(world, world.tpp, flow.bound, PAYMENTS),
    "a key of 5000 characters": () => find(world, flow.bound, "k".repeat(5000)),
    "a key that made a consent": () => find(world, flow.bound, "c"),
    "another TPP's key": () => find(world, stranger, "k", world.otherTpp),
    "a key at another bank": () => find(world, atB, "k", world.tpp, PAYMENTS.replace("BANKA", "BANKB")),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    await t.step(name, async () => {
      await assertFaults(await unchanged(world, attempt), 400, [["Resource.NotFound"]]);
    });
  }
});

Deno.test("GET domestic-payments?idempotency-key is not for another consent's token [RP-N18]", async () => {
  await using world = await openWorld();
  await good(pay(world, await authorised(world), { idempotencyKey: "k" }), 201);
  const { payment } = await authorised(world);
  const response = await unchanged(world, () => find(world, payment, "k"));
  await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
});

Deno.test("GET domestic-payments?idempotency-key finds a payment for 24 h [IDE-10]", async () => {
  await using world = await openWorld();
  const made = await good(pay(world, await authorised(world), { idempotencyKey: "k" }), 201);
  world.now += 86_399_999;
  assertEquals(
    (await good(find(world, await clientToken(world, world.tpp), "k"), 200)).Data.DomesticPaymentId,
    made.Data.DomesticPaymentId,
  );
  world.now += 1;
  const late = await clientToken(world, world.tpp);
  await assertFaults(await find(world, late, "k"), 400, [["Resource.NotFound"]]);
});
