import { assert, assertEquals } from "@std/assert";
import {
  arm,
  type BanksEnvironment,
  bookOf,
  openBanksEnvironment,
  over,
  paidAt,
  runTimers,
  startBanks,
} from "support/banks_environment.ts";
import { bodyOf, type PaymentOrders } from "testing/answers.ts";
import { DEBTOR_ACCOUNT } from "testing/flows.ts";
import { history, later, statusOf } from "support/orders.ts";
import { ACCEPTED, pull, PULLING } from "./pulling.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";
import { platformSigner } from "support/bank_visits.ts";
import { payloadSignature } from "testing/jwts.ts";

const SETTLED = "AcceptedCreditSettlementCompleted";

Deno.test("a bank that is started again over its book knows what it has executed, and goes on settling [D1, PT5, PT6]", async () => {
  await using dir = await openTemporaryFolder();
  const options = { bookPath: (code: string): string => `${dir.path}/bank-${code}.kv` };
  await using env = await openBanksEnvironment(options);
  const made = await paidAt(env, { body: over("666.04") }); // executed, and the answer lost
  assertEquals(made.Status, "Pending");
  await restart(env, options);
  assertEquals((await bookOf(env)).balances[DEBTOR_ACCOUNT.Identification], "99333.96");
  assertEquals(await later(env, 1250), 1); // pushed again to a bank with no memory but its book
  assertEquals(await statusOf(env, made.DomesticPaymentId), ACCEPTED);
  await runTimers(env);
  assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementCompleted");
  await restart(env, options);
  await runTimers(env);
  assertEquals(await statusOf(env, made.DomesticPaymentId), SETTLED);
  await restart(env, options);
  assertEquals(env.timers, []); // no settlement is pending
  const { orders, balances } = await bookOf(env);
  assertEquals(orders.map(({ DomesticPaymentId, Status }) => [DomesticPaymentId, Status]), [
    [made.DomesticPaymentId, SETTLED],
  ]);
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99333.96");
});

Deno.test("settlement waits for a platform that has not heard of the acceptance [PT3, PT5]", async () => {
  await using env = await openBanksEnvironment();
  const made = await paidAt(env, { body: over("666.04") });
  await runTimers(env); // "completed" for a payment that is Pending: rejected, tried again
  assertEquals(await statusOf(env, made.DomesticPaymentId), "Pending");
  await later(env, 1250);
  await runTimers(env);
  await runTimers(env);
  assertEquals(await statusOf(env, made.DomesticPaymentId), SETTLED);
  assertEquals((await history(env, made.DomesticPaymentId)).map((line) => line.split(" ")[0]), [
    "payment.Pending",
    "payment_order.outcome_unknown",
    `payment.${ACCEPTED}`,
    "payment.AcceptedSettlementCompleted",
    `payment.${SETTLED}`,
  ]);
});

Deno.test("pulling goes on after the orders that are done with, and comes back for one that is not [D2]", async () => {
  await using env = await openBanksEnvironment({ ...PULLING, push: false });
  const { DomesticPaymentId: first } = await paidAt(env, { body: over("1.00") });
  for (let copy = 1; copy < 150; copy++) await copyOf(env, first, copy);
  const { DomesticPaymentId: faulty, ConsentId } = await paidAt(env, { body: over("1.00") });
  await arm(env, { fault: "server_error", times: 1, consent_id: ConsentId });
  env.now += 60_000; // no later order can be listed before these any more
  const pages = async (): Promise<number> => {
    const before = env.logged.length;
    await pull(env);
    return env.logged.slice(before).filter((line) =>
      line.includes('"path":"/BANKA/back-channel-payments/v1"')
    ).length;
  };
  assertEquals([await pages(), (await bookOf(env)).orders.length], [2, 150]);
  // The bank is down for one order on the first page: that page is read again until it is done with.
  assertEquals([await pages(), (await bookOf(env)).orders.length], [2, 150]);
  await env.banks.fetch(new Request("https://banks.example/BANKA/faults", { method: "DELETE" }));
  assertEquals([await pages(), (await bookOf(env)).orders.length], [2, 151]);
  assertEquals(await pages(), 1);
  const { orders, balances } = await bookOf(env);
  assert(orders.some((order) => order.DomesticPaymentId === faulty));
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99849.00");
});

Deno.test("a platform that cannot be asked, or an order that is no order, does not end the pulling [D2]", async () => {
  await using env = await openBanksEnvironment({ ...PULLING, push: false });
  const { DomesticPaymentId: broken } = await paidAt(env);
  const { DomesticPaymentId: sound } = await paidAt(env);
  const api = env.api;
  env.api = async (request, as) => await withoutDebtor(env, await api(request, as), broken);
  await pull(env);
  assertEquals((await bookOf(env)).orders.map((order) => order.DomesticPaymentId), [sound]);
  assert(env.bankEvents.some(({ event }) => event === "order.not_taken"));
  env.api = () => Promise.resolve(new Response(null, { status: 503 }));
  await pull(env);
  env.api = api;
  assert(env.bankEvents.some(({ event }) => event === "orders.not_pulled"));
  await pull(env);
  assertEquals((await bookOf(env)).orders.length, 2);
});

async function restart(env: BanksEnvironment, options: Parameters<typeof startBanks>[1]): Promise<void> {
  env.banks.stop();
  env.banks = await startBanks(env, options);
}

/** Another payment of the same bank, so many milliseconds younger. */
async function copyOf(env: BanksEnvironment, id: string, younger: number): Promise<void> {
  const copy = crypto.randomUUID();
  const payment = await env.store.get<{ createdAt: number }>(["payment", id]);
  const createdAt = (payment?.value.createdAt ?? 0) + younger;
  await put(env, ["payment", copy], { ...payment?.value, id: copy, createdAt: Math.floor(createdAt) });
  await put(
    env,
    ["payment_order", "BANKA", `${String(Math.floor(createdAt)).padStart(15, "0")}-${copy}`],
    copy,
  );
}

async function put(env: BanksEnvironment, key: readonly string[], value: unknown): Promise<void> {
  await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
}

/** An answer that lists orders, with one of them broken on its way. */
async function withoutDebtor(env: BanksEnvironment, answer: Response, id: string): Promise<Response> {
  const { status, headers } = answer;
  const body = await bodyOf<Partial<PaymentOrders>>(answer);
  const listed = body.Data?.PaymentOrder ?? [];
  for (const order of listed.filter(({ DomesticPaymentId }) => DomesticPaymentId === id)) {
    Object.assign(order, { DebtorAccount: {} });
  }
  const text = JSON.stringify(body);
  const signer = { orgId: "platform", clientId: "platform", signing: await platformSigner() };
  headers.set("x-jws-signature", await payloadSignature(env, signer, text));
  return new Response(text, { status, headers });
}
