import { assertEquals } from "@std/assert";
import {
  accepts,
  copiesOf,
  down,
  later,
  openPushEnvironment,
  orderIdOf,
  outboxKeys,
  outboxOrder,
  paid,
  payment,
  type PushEnvironment,
} from "support/orders.ts";
import { stepsOf } from "support/steps.ts";

Deno.test("An order whose payment_orders_uri may not be called is never sent anywhere [D4, SSRF]", async (t) => {
  const forbidden = [
    "http://bank-a.example/payment-orders",
    "https://127.0.0.1/payment-orders",
    "https://127.1.2.3/payment-orders",
    "https://2130706433/payment-orders",
    "https://localhost:8443/payment-orders",
    "http://localhost:8443/payment-orders",
    "https://[::1]/payment-orders",
    "https://[fd00::1]/payment-orders",
    "https://10.0.0.1/payment-orders",
    "https://169.254.169.254/latest/meta-data",
    "https://metadata.google.internal/payment-orders",
    "https://printer.local/payment-orders",
    "https://bank/payment-orders",
    "https://user:secret@bank-a.example/payment-orders",
    "ftp://bank-a.example/payment-orders",
    "file:///etc/passwd",
    "not a URL",
  ];
  await stepsOf(t, forbidden, (uri) => uri, async (uri) => {
    await using env = await openPushEnvironment();
    await registeredAt(env, uri);
    const made = await paid(env);
    assertEquals([made.Status, env.pushes.length], ["Pending", 0]);
    const order = await outboxOrder(env, made.DomesticPaymentId);
    assertEquals(order?.lastFailure, "payment_orders_uri may not be called");
  });
});

Deno.test("An order whose bank has given up its payment_orders_uri waits for the bank's own report [D2, D4]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  await registeredAt(env, undefined);
  assertEquals(await later(env, 1250), 1);
  assertEquals(env.pushes.length, 1);
  assertEquals((await outboxOrder(env, id))?.lastFailure, "the bank has no payment_orders_uri");
  assertEquals((await payment(env, id)).Status, "Pending");
});

Deno.test("A pass delivers every order that is due, however many wait [D4]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId } = await paid(env);
  const ids = [DomesticPaymentId, ...await copiesOf(env, DomesticPaymentId, 119)];
  env.answer = accepts;
  assertEquals(await later(env, 1250), 120); // more than one page, and more than a bank's pushes at a time
  assertEquals(env.pushes.slice(1).map(orderIdOf).toSorted(), ids.toSorted());
  assertEquals(await outboxKeys(env), []);
});

/** Puts another address into the bank's registration, past every check of the directory's and of registration's. */
async function registeredAt(env: PushEnvironment, uri: string | undefined): Promise<void> {
  const key = ["bank", "BANKA"];
  const bank = await env.store.get<Record<string, unknown>>(key);
  const { paymentOrdersUri: _, ...rest } = bank?.value ?? {};
  const value = uri === undefined ? rest : { ...rest, paymentOrdersUri: uri };
  await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
}
