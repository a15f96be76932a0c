/** The operator's view of orders that were given up, and the way to have one tried again. */
import { assertEquals } from "@std/assert";
import { wireDateTime } from "../../../../src/base/kernel/clock.ts";
import type { BankCode, PaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { outboxQueueKey } from "../../../../src/platform/config/store_keys.ts";
import { accepts, history, later, outboxOrder, paid, statusOf, UNKNOWN } from "support/orders.ts";
import { bodyOf, rejectionOf } from "testing/answers.ts";
import type { OpenOrders } from "testing/operation_answers.ts";
import { giveUp, LIST, openOperated, operate, redriveOf } from "./operated.ts";

Deno.test("GET operations/payment-orders lists the orders that were given up, and only those", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: dead } = await paid(env);
  await giveUp(env);
  await paid(env);
  const answer = await operate(env, LIST);
  assertEquals([answer.status, answer.headers.get("cache-control")], [200, "no-store"]);
  const order = await outboxOrder(env, dead);
  const diedAt = order?.state === "dead" ? order.diedAt : NaN;
  assertEquals(await answer.json(), {
    Data: {
      PaymentOrder: [{
        DomesticPaymentId: dead,
        BankId: "BANKA",
        ClientId: env.tpp.clientId,
        Tpp: "Example Shop Ltd · Example Shop Ltd app",
        State: "dead",
        PushFailures: 11,
        LastFailure: "status 503",
        MayBeAtBank: true,
        GivenUpDateTime: new Date(diedAt).toISOString().replace(/\.\d{3}Z$/, "+00:00"),
        CreationDateTime: "2040-01-15T12:00:00+00:00",
        InstructedAmount: { Amount: "165.88", Currency: "EUR" },
      }],
    },
  });
});

Deno.test("GET operations/payment-orders pages by After", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: dead } = await paid(env);
  await giveUp(env);
  const [order, payment] = await env.store.getMany<object>([["outbox", dead], ["payment", dead]]);
  for (let copy = 0; copy < 100; copy++) {
    const id = crypto.randomUUID();
    await env.store.commit({
      checks: [],
      writes: [
        { kind: "set", key: ["outbox", id], value: { ...order?.value, paymentId: id } },
        { kind: "set", key: ["outbox_dead", id], value: id },
        { kind: "set", key: ["payment", id], value: { ...payment?.value, id } },
      ],
    });
  }
  const first = (await bodyOf<OpenOrders>(operate(env, LIST))).Data;
  const second = (await bodyOf<OpenOrders>(operate(env, `${LIST}&after=${first.After}`))).Data;
  const ids = [...first.PaymentOrder, ...second.PaymentOrder].map((listed) => listed.DomesticPaymentId);
  assertEquals([first.PaymentOrder.length, second.PaymentOrder.length, second.After], [100, 1, undefined]);
  assertEquals([new Set(ids).size, ids.includes(dead)], [101, true]);
  // An order of a full page has been redriven since its index was read.
  const redriven = ids[3] ?? "";
  await env.store.commit({ checks: [], writes: [{ kind: "delete", key: ["outbox", redriven] }] });
  const shorter = (await bodyOf<OpenOrders>(operate(env, LIST))).Data;
  assertEquals([shorter.PaymentOrder.length, shorter.After], [99, first.After]);
});

const WAITING = "/operations/payment-orders?state=waiting";

Deno.test("an order that fails is seen while it is tried: its failures, why, and the next push [OP22]", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  const listed = async (query = ""): Promise<OpenOrders["Data"]["PaymentOrder"]> =>
    (await bodyOf<OpenOrders>(operate(env, `${WAITING}${query}`))).Data.PaymentOrder;
  const order = await outboxOrder(env, id);
  assertEquals(await listed(), [{
    DomesticPaymentId: id,
    BankId: "BANKA",
    ClientId: env.tpp.clientId,
    Tpp: "Example Shop Ltd · Example Shop Ltd app",
    State: "waiting",
    PushFailures: 1,
    LastFailure: "status 503",
    MayBeAtBank: true,
    NextPushDateTime: wireDateTime(order?.state === "waiting" ? order.dueAt : NaN),
    CreationDateTime: "2040-01-15T12:00:00+00:00",
    InstructedAmount: { Amount: "165.88", Currency: "EUR" },
  }]);
  assertEquals((await listed("&bank=BANKA")).length, 1);
  assertEquals(await listed("&bank=BANKB"), []);
  await later(env, 5_000);
  assertEquals((await listed()).map(({ PushFailures }) => PushFailures), [2]);
  env.answer = accepts;
  await later(env, 30_000);
  assertEquals(await listed(), []);
});

Deno.test("waiting orders page by bank and next push, of one bank alone, and never twice [OP22]", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  const [order, payment] = await env.store.getMany<object>([["outbox", id], ["payment", id]]);
  const dueAt = env.now + 60_000;
  for (const bank of ["BANKA", "BANKB"]) {
    for (let copy = 0; copy < 100; copy++) {
      const paymentId = crypto.randomUUID();
      await env.store.commit({
        checks: [],
        writes: [
          { kind: "set", key: ["outbox", paymentId], value: { ...order?.value, paymentId, bank, dueAt } },
          {
            kind: "set",
            key: outboxQueueKey(bank as BankCode, dueAt, paymentId as PaymentId),
            value: paymentId,
          },
          { kind: "set", key: ["payment", paymentId], value: { ...payment?.value, id: paymentId, bank } },
        ],
      });
    }
  }
  const walk = async (query: string): Promise<readonly string[]> => {
    const found: string[] = [];
    let after = "";
    do {
      const { Data } = await bodyOf<OpenOrders>(operate(env, `${WAITING}${query}${after}`));
      found.push(
        ...Data.PaymentOrder.map(({ BankId, DomesticPaymentId }) => `${BankId} ${DomesticPaymentId}`),
      );
      after = Data.After === undefined ? "" : `&after=${Data.After}`;
    } while (after !== "");
    return found;
  };
  const all = await walk("");
  assertEquals([all.length, new Set(all).size], [201, 201]);
  assertEquals(all.map((one) => one.slice(0, 5)), all.map((one) => one.slice(0, 5)).toSorted(), "by bank");
  assertEquals(await walk("&bank=BANKB"), all.slice(101));
  const { Data: { After = "" } } = await bodyOf<OpenOrders>(operate(env, `${WAITING}&bank=BANKA`));
  for (
    const query of ["&bank=", "&bank=bank%20a", `&bank=BANKB&after=${After}`, `&after=${id}`, "&after=@@"]
  ) {
    assertEquals(
      (await rejectionOf(await operate(env, `${WAITING}${query}`))).error,
      "invalid_request",
      query,
    );
  }
  const ofDead = await operate(env, `${LIST}&bank=BANKA`);
  assertEquals((await rejectionOf(ofDead)).error, "invalid_request", "the list of dead orders has no banks");
});

Deno.test("POST redrive has the order tried again, with every retry before it, and tells who wanted it", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const redriven = await operate(env, redriveOf(id));
  assertEquals([redriven.status, await redriven.json()], [202, {
    Data: { DomesticPaymentId: id, State: "due" },
  }]);
  assertEquals((await bodyOf<OpenOrders>(operate(env, LIST))).Data.PaymentOrder, []);
  assertEquals((await outboxOrder(env, id))?.failures, 0);
  assertEquals(await later(env, 0), 1); // fails again
  assertEquals((await outboxOrder(env, id))?.state, "waiting");
  env.answer = accepts;
  await later(env, 30_000);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  assertEquals((await history(env, id)).slice(1), [
    ...Array(10).fill(UNKNOWN),
    "payment_order.dead by platform",
    "payment_order.redriven by operator maria",
    UNKNOWN,
    "payment.AcceptedSettlementInProcess by bank BANKA",
  ]);
});

Deno.test("POST redrive of an order that is not given up is 409, of one that is not there 404, and changes nothing", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  const before = await env.snapshot();
  const conflict = await operate(env, redriveOf(id));
  assertEquals([conflict.status, (await rejectionOf(conflict)).error], [409, "conflict"]);
  for (const unknown of [crypto.randomUUID(), "x", "..%2f", `${id}0`]) {
    const answer = await operate(env, redriveOf(unknown));
    assertEquals([answer.status, (await rejectionOf(answer)).error], [404, "not_found"]);
  }
  assertEquals(await env.snapshot(), before);
});

Deno.test("Of ten parallel redrives one succeeds", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const all = await Promise.all(Array.from({ length: 10 }, () => operate(env, redriveOf(id))));
  await Promise.all(all.map((answer) => answer.body?.cancel()));
  assertEquals(all.map(({ status }) => status).toSorted(), [202, ...Array(9).fill(409)]);
  assertEquals((await history(env, id)).filter((line) => line.includes("redriven")).length, 1);
});
