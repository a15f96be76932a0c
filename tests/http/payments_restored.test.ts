/** A store that has lost its last commits: the same payment asked for again is the same payment. */
import { assertEquals, assertMatch } from "@std/assert";
import { paymentIdOf } from "../../src/kernel/identifiers.ts";
import type { ConsentId } from "../../src/kernel/identifiers.ts";
import type { Entry, Store } from "../../src/store/store.ts";
import { authorised, good, pay } from "../support/flows.ts";
import { openPushWorld, orderIdOf } from "../support/orders.ts";

Deno.test("a payment repeated after the store lost it has the same id, so the bank executes it once [G9]", async () => {
  await using world = await openPushWorld();
  const flow = await authorised(world);
  const before = await everything(world.store);
  const first = await good(pay(world, flow, { idempotencyKey: "a-key-of-the-shop" }), 201);
  await goBackTo(world.store, before);
  const second = await good(pay(world, flow, { idempotencyKey: "a-key-of-the-shop" }), 201);
  assertEquals(second.Data.DomesticPaymentId, first.Data.DomesticPaymentId);
  assertEquals(world.pushes.map(orderIdOf), [
    first.Data.DomesticPaymentId,
    first.Data.DomesticPaymentId,
  ]);
});

Deno.test("paymentIdOf is the version 8 UUID of SHA-256 over the label and the consent id [G9]", async () => {
  const consentId = "3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11" as ConsentId;
  const id = await paymentIdOf(consentId);
  assertMatch(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  // printf 'domestic payment of consent 3d9c1c6e-0f4b-4a57-9d6a-6a1d2f6f2a11' | sha256sum
  assertEquals(id, "d19e5b07-6460-862c-86c8-8649c6b19f50");
});

async function everything(store: Store): Promise<readonly Entry<unknown>[]> {
  return await store.list<unknown>({ prefix: [], limit: 10_000 });
}

/** What a restored copy holds: the entries of then, and none that came later. */
async function goBackTo(store: Store, before: readonly Entry<unknown>[]): Promise<void> {
  const nameOf = ({ key }: Entry<unknown>): string => JSON.stringify(key);
  const known = new Set(before.map(nameOf));
  const later = (await everything(store)).filter((entry) => !known.has(nameOf(entry)));
  await store.commit({
    checks: [],
    writes: [
      ...later.map(({ key }) => ({ kind: "delete", key }) as const),
      ...before.map(({ key, value }) => ({ kind: "set", key, value }) as const),
    ],
  });
}
