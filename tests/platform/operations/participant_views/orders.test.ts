/** Stopped orders as participants' people see them: which they are and since when, without the operators' texts. */
import { assert, assertEquals } from "@std/assert";
import type { Payment } from "testing/answers.ts";
import type { OwnOrder } from "testing/operation_answers.ts";
import type { Environment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { openPushEnvironment, paid } from "support/orders.ts";
import type { PaymentId } from "../../../../src/base/kernel/identifiers.ts";
import type { Write } from "../../../../src/base/store/store.ts";
import { outboxDeadKey, outboxKey, paymentKey } from "../../../../src/platform/config/store_keys.ts";

interface Listed {
  readonly Data: { readonly PaymentOrder: readonly OwnOrder[]; readonly IsComplete: boolean };
}

async function listed(env: Environment, orgId: string): Promise<Listed["Data"]> {
  const request = new Request(`${OPERATIONS_URL}/operations/own/payment-orders?state=dead`, {
    headers: personOf(orgId),
  });
  return (await good<Listed>(env.platform.operations.fetch(request), 200)).Data;
}

async function stopped(env: Environment, orgId: string): Promise<readonly OwnOrder[]> {
  return (await listed(env, orgId)).PaymentOrder;
}

/** A payment that the bank has refused with a text of its own. */
async function refused(): Promise<
  { env: Awaited<ReturnType<typeof openPushEnvironment>>; payment: Payment["Data"] }
> {
  const env = await openPushEnvironment(
    () => new Response("the payer's account is blocked", { status: 400 }),
    { operators: await testPeople() },
  );
  return { env, payment: await paid(env) };
}

Deno.test("an own stopped order has ids, its state and times, and no text of the bank or the operators [OWN3]", async () => {
  const { env, payment } = await refused();
  await using _ = env;
  for (const orgId of [env.tpp.orgId, "BANKA"]) {
    assertEquals(await stopped(env, orgId), [{
      DomesticPaymentId: payment.DomesticPaymentId,
      ConsentId: payment.ConsentId,
      BankId: "BANKA",
      State: "dead",
      CreationDateTime: payment.CreationDateTime,
      StoppedDateTime: "2040-01-15T12:00:00+00:00",
    }]);
  }
  assertEquals(await stopped(env, env.otherTpp.orgId), []);
});

Deno.test("of many stopped orders 100 are read, several at a time [OWN3]", async () => {
  const { env, payment } = await refused();
  await using _ = env;
  const writes: Write[] = [];
  const from = payment.DomesticPaymentId as PaymentId;
  const [order, stored] = [await env.store.get(outboxKey(from)), await env.store.get(paymentKey(from))];
  for (let copy = 100; copy < 350; copy++) {
    const id = `00000000-0000-4000-8000-000000000${copy}` as PaymentId; // before every random id
    writes.push(
      { kind: "set", key: outboxKey(id), value: { ...order?.value as object, paymentId: id } },
      { kind: "set", key: outboxDeadKey(id), value: id },
      { kind: "set", key: paymentKey(id), value: { ...stored?.value as object, id } },
    );
  }
  for (let at = 0; at < writes.length; at += 100) {
    await env.store.commit({ checks: [], writes: writes.slice(at, at + 100) });
  }
  const { get } = env.store;
  const [seen, reading] = [{ reads: 0, most: 0 }, new Set<symbol>()];
  env.store.get = (async (key: readonly string[]) => {
    const read = Symbol();
    reading.add(read);
    seen.reads += key[0] === "payment" ? 1 : 0;
    seen.most = Math.max(seen.most, reading.size);
    await new Promise((resolve) => setTimeout(resolve, 1));
    return await get(key as never).finally(() => reading.delete(read));
  }) as never;
  const { PaymentOrder: found, IsComplete } = await listed(env, env.tpp.orgId);
  assertEquals([found.length, IsComplete], [100, false]);
  env.store.get = get;
  assert(seen.reads === 100 && seen.most > 10, JSON.stringify(seen));
});

Deno.test("a stopped order is listed behind more than a thousand of another bank [OWN3]", async () => {
  const { env, payment } = await refused();
  await using _ = env;
  const order = await env.store.get(outboxKey(payment.DomesticPaymentId as PaymentId));
  for (let from = 0; from < 1200; from += 200) {
    const writes = Array.from({ length: 200 }, (_, n): Write[] => {
      const id = `00000000-0000-4000-8000-${String(from + n).padStart(12, "0")}` as PaymentId;
      const value = { ...order?.value as object, paymentId: id, bank: "BANKB" };
      return [
        { kind: "set", key: outboxKey(id), value },
        { kind: "set", key: outboxDeadKey(id), value: id },
      ];
    });
    await env.store.commit({ checks: [], writes: writes.flat() });
  }
  for (const orgId of [env.tpp.orgId, "BANKA"]) {
    const { PaymentOrder: found, IsComplete } = await listed(env, orgId);
    const ids = found.map(({ DomesticPaymentId }) => DomesticPaymentId);
    assertEquals([ids, IsComplete], [[payment.DomesticPaymentId], true]);
  }
});

Deno.test("orders beyond 100 of the second read are not hidden as if the list was complete [OWN3]", async () => {
  const { env, payment } = await refused();
  await using _ = env;
  const from = payment.DomesticPaymentId as PaymentId;
  const [order, stored] = [await env.store.get(outboxKey(from)), await env.store.get(paymentKey(from))];
  for (let first = 0; first < 160; first += 40) {
    const bank = first === 40 ? "BANKB" : "BANKA";
    const writes = Array.from({ length: 40 }, (_, n): Write[] => {
      const id = `00000000-0000-4000-8000-${String(first + n).padStart(12, "0")}` as PaymentId;
      return [
        { kind: "set", key: outboxKey(id), value: { ...order?.value as object, paymentId: id, bank } },
        { kind: "set", key: outboxDeadKey(id), value: id },
        { kind: "set", key: paymentKey(id), value: { ...stored?.value as object, id } },
      ];
    });
    await env.store.commit({ checks: [], writes: writes.flat() });
  }
  const { PaymentOrder: found, IsComplete } = await listed(env, "BANKA"); // it has 121
  assertEquals([found.length, IsComplete], [100, false]);
});
