/** Banks that pull their orders, and books that survive their bank: an order is executed once however it came. */
import { assert, assertEquals } from "@std/assert";
import {
  agreed,
  arm,
  type BanksWorld,
  bookOf,
  openBanksWorld,
  over,
  paidAt,
  runTimers,
  startBanks,
} from "../support/banks_environment.ts";
import { DEBTOR_ACCOUNT, good, type Json, pay } from "../../scripts/testing/flows.ts";
import { history, later, outboxKeys, payment, statusOf } from "../support/orders.ts";

const ACCEPTED = "AcceptedSettlementInProcess";
const SETTLED = "AcceptedCreditSettlementCompleted";
const PULLING = { pullEveryMs: 4000 };
/** Alice's savings: 5.00 EUR. */
const SAVINGS = { DebtorAccount: { ...DEBTOR_ACCOUNT, Identification: "GB11BUKB20201555555563" } };

Deno.test("a bank without payment_orders_uri executes each order once, by pulling alone [D2]", async () => {
  await using world = await openBanksWorld({ ...PULLING, push: false });
  const made = await paidAt(world, { body: over("100.00") });
  assertEquals([made.Status, (await bookOf(world)).orders], [ACCEPTED, []]);
  for (let round = 0; round < 3; round++) await pull(world);
  const { orders, balances } = await bookOf(world);
  assertEquals(orders.map((order: Json) => [order.DomesticPaymentId, order.ConsentId, order.Status]), [
    [made.DomesticPaymentId, made.ConsentId, ACCEPTED],
  ]);
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99900.00");
});

Deno.test("a pulled order that cannot be paid is reported as Rejected [D2, P4]", async () => {
  for (const push of [true, false]) {
    await using world = await openBanksWorld({ ...PULLING, push });
    world.pushesArrive = false;
    // Either can be paid when the customer agrees, but not both.
    const flows = [
      await agreed(world, { body: over("3.00", SAVINGS) }),
      await agreed(world, { body: over("3.00", SAVINGS) }),
    ];
    const ids: string[] = [];
    for (const flow of flows) ids.push((await good(pay(world, flow), 201)).Data.DomesticPaymentId);
    await pull(world);
    const seen = await Promise.all(ids.map((id) => payment(world, id)));
    assertEquals(seen.map(({ Status, StatusReason }) => [Status, StatusReason]).toSorted(), [
      [ACCEPTED, undefined],
      ["Rejected", "AM04: Insufficient funds"],
    ]);
    assertEquals(await outboxKeys(world), []);
  }
});

Deno.test("an order that cannot be pushed is pulled, reported and not pushed any more [D2, D4]", async () => {
  await using world = await openBanksWorld(PULLING);
  world.pushesArrive = false;
  const made = await paidAt(world);
  assertEquals(made.Status, "Pending");
  await pull(world);
  assertEquals(await statusOf(world, made.DomesticPaymentId), ACCEPTED);
  assertEquals(await outboxKeys(world), []);
  world.pushesArrive = true;
  assertEquals(await later(world, 600_000), 0);
  assertEquals((await bookOf(world)).orders.length, 1);
  assertEquals((await history(world, made.DomesticPaymentId)).slice(1), [
    `payment.${ACCEPTED} by ${world.bankA.clientId}`,
  ]);
});

Deno.test("pushes and pulls of one order at the same time debit once [D1]", async () => {
  await using world = await openBanksWorld(PULLING);
  world.pushesArrive = false;
  const ids: string[] = [];
  for (let made = 0; made < 5; made++) {
    ids.push((await paidAt(world, { body: over("10.00") })).DomesticPaymentId);
  }
  world.pushesArrive = true;
  world.now += 31_000;
  await Promise.all([world.platform.deliverDueOrders(), pull(world), world.platform.deliverDueOrders()]);
  for (let second = 0; second < 40; second++) await later(world, 1000);
  const { orders, balances } = await bookOf(world);
  assertEquals(orders.map((order: Json) => order.DomesticPaymentId).toSorted(), ids.toSorted());
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99950.00");
  for (const id of ids) assertEquals(await statusOf(world, id), ACCEPTED);
});

Deno.test("a bank that is started again over its book knows what it has executed, and goes on settling [D1, P5, P6]", async () => {
  const dir = await Deno.makeTempDir();
  const options = { bookPath: (code: string): string => `${dir}/bank-${code}.kv` };
  try {
    await using world = await openBanksWorld(options);
    const made = await paidAt(world, { body: over("666.04") }); // executed, and the answer lost
    assertEquals(made.Status, "Pending");
    await restart(world, options);
    assertEquals((await bookOf(world)).balances[DEBTOR_ACCOUNT.Identification], "99333.96");
    assertEquals(await later(world, 1250), 1); // pushed again to a bank with no memory but its book
    assertEquals(await statusOf(world, made.DomesticPaymentId), ACCEPTED);
    await runTimers(world);
    assertEquals(await statusOf(world, made.DomesticPaymentId), "AcceptedSettlementCompleted");
    await restart(world, options);
    await runTimers(world);
    assertEquals(await statusOf(world, made.DomesticPaymentId), SETTLED);
    await restart(world, options);
    assertEquals(world.timers, []); // nothing is left to settle
    const { orders, balances } = await bookOf(world);
    assertEquals(orders.map(({ DomesticPaymentId, Status }: Json) => [DomesticPaymentId, Status]), [
      [made.DomesticPaymentId, SETTLED],
    ]);
    assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99333.96");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("settlement waits for a platform that has not heard of the acceptance [P3, P5]", async () => {
  await using world = await openBanksWorld();
  const made = await paidAt(world, { body: over("666.04") });
  await runTimers(world); // "completed" for a payment that is Pending: refused, tried again
  assertEquals(await statusOf(world, made.DomesticPaymentId), "Pending");
  await later(world, 1250);
  await runTimers(world);
  await runTimers(world);
  assertEquals(await statusOf(world, made.DomesticPaymentId), SETTLED);
  assertEquals((await history(world, made.DomesticPaymentId)).map((line) => line.split(" ")[0]), [
    "payment.Pending",
    `payment.${ACCEPTED}`,
    "payment.AcceptedSettlementCompleted",
    `payment.${SETTLED}`,
  ]);
});

Deno.test("pulling goes on after the orders that are done with, and comes back for one that is not [D2]", async () => {
  await using world = await openBanksWorld({ ...PULLING, push: false });
  const { DomesticPaymentId: first } = await paidAt(world, { body: over("1.00") });
  for (let copy = 1; copy < 150; copy++) await copyOf(world, first, copy);
  const { DomesticPaymentId: faulty, ConsentId } = await paidAt(world, { body: over("1.00") });
  await arm(world, { fault: "server_error", times: 1, consent_id: ConsentId });
  world.now += 60_000; // nothing that is listed can be overtaken any more
  const pages = async (): Promise<number> => {
    const before = world.logged.length;
    await pull(world);
    return world.logged.slice(before).filter((line) =>
      line.includes('"path":"/BANKA/back-channel-payments/v1"')
    ).length;
  };
  assertEquals([await pages(), (await bookOf(world)).orders.length], [2, 150]);
  // The bank is down for one order on the first page: that page is read again until it is done with.
  assertEquals([await pages(), (await bookOf(world)).orders.length], [2, 150]);
  await world.banks.fetch(new Request("https://banks.example/BANKA/faults", { method: "DELETE" }));
  assertEquals([await pages(), (await bookOf(world)).orders.length], [2, 151]);
  assertEquals(await pages(), 1);
  const { orders, balances } = await bookOf(world);
  assert(orders.some((order: Json) => order.DomesticPaymentId === faulty));
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99849.00");
});

Deno.test("a platform that cannot be asked, or an order that is no order, does not end the pulling [D2]", async () => {
  await using world = await openBanksWorld({ ...PULLING, push: false });
  const { DomesticPaymentId: broken } = await paidAt(world);
  const { DomesticPaymentId: sound } = await paidAt(world);
  const api = world.api;
  world.api = async (request, as) => withoutDebtor(await api(request, as), broken);
  await pull(world);
  assertEquals((await bookOf(world)).orders.map((order: Json) => order.DomesticPaymentId), [sound]);
  assert(world.bankEvents.some(({ event }) => event === "order.not_taken"));
  world.api = () => Promise.resolve(new Response(null, { status: 503 }));
  await pull(world);
  world.api = api;
  assert(world.bankEvents.some(({ event }) => event === "orders.not_pulled"));
  await pull(world);
  assertEquals((await bookOf(world)).orders.length, 2);
});

/** One round of every bank's pulling. */
async function pull(world: BanksWorld): Promise<void> {
  const rounds = world.timers.filter(({ delayMs }) => delayMs === 4000);
  for (const round of rounds) world.timers.splice(world.timers.indexOf(round), 1);
  assertEquals(rounds.length, 2);
  await Promise.all(rounds.map(({ task }) => task()));
}

async function restart(world: BanksWorld, options: Parameters<typeof startBanks>[1]): Promise<void> {
  world.banks.stop();
  world.banks = await startBanks(world, options);
}

/** Another payment of the same bank, so many milliseconds younger. */
async function copyOf(world: BanksWorld, id: string, younger: number): Promise<void> {
  const copy = crypto.randomUUID();
  const payment = await world.store.get<{ createdAt: number }>(["payment", id]);
  const createdAt = (payment?.value.createdAt ?? 0) + younger;
  await put(world, ["payment", copy], { ...payment?.value, id: copy, createdAt: Math.floor(createdAt) });
  await put(
    world,
    ["payment_order", "BANKA", `${String(Math.floor(createdAt)).padStart(15, "0")}-${copy}`],
    copy,
  );
}

async function put(world: BanksWorld, key: readonly string[], value: unknown): Promise<void> {
  await world.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
}

/** An answer that lists orders, with one of them broken on its way. */
async function withoutDebtor(answer: Response, id: string): Promise<Response> {
  const { status, headers } = answer;
  const body: Json = await answer.json();
  const listed: Json[] = body.Data?.PaymentOrder ?? [];
  for (const order of listed.filter(({ DomesticPaymentId }) => DomesticPaymentId === id)) {
    order.DebtorAccount = {};
  }
  return Response.json(body, { status, headers: { "content-type": headers.get("content-type") ?? "" } });
}
