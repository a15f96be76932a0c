/** After a restore: each bank's signed statement is compared with the store, and only then its orders go out again. */
import { assertEquals } from "@std/assert";
import type { Key } from "../../../../src/base/store/store.ts";
import { historyOf } from "testing/histories.ts";
import { type BookEnvironment, openBookEnvironment } from "support/bank_books.ts";
import { firstOf, type Payment } from "testing/answers.ts";
import { call, clientToken, consentBody, DEBTOR_ACCOUNT, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { down, later, outboxOrder, paid, payment, report, statusOf } from "support/orders.ts";
import { type Copy, copyOf, restore } from "support/restored_store.ts";
import { erase } from "support/personal_case.ts";
import { elapse, grow } from "support/retention.ts";
import { steps } from "support/steps.ts";

const HOLDS = "/operations/order-holds";

const RECONCILE = `${HOLDS}/BANKA/reconcile`;

Deno.test("reconciling recovers a payment that the store lost, and its consent is Consumed [G9]", async () => {
  await using env = await openBookEnvironment();
  const { Data, ...rest } = consentBody();
  const flow = await authorised(env, { body: { ...rest, Data: { ...Data, ReadRefundAccount: "Yes" } } });
  const copy = await copyOf(env);
  const made = (await good(pay(env, flow), 201)).Data;
  assertEquals(made.Refund, { Account: DEBTOR_ACCOUNT });
  await restore(env, copy);
  const [status, answer] = await env.operate(RECONCILE, "");
  assertEquals([status, answer.Data.State, answer.Data.Recovered], [200, "released", 1]);
  const { StatusUpdateDateTime: _, ...found } = await payment(env, made.DomesticPaymentId);
  const { StatusUpdateDateTime: __, ...expected } = made;
  assertEquals(found, expected, "as it was answered the first time");
  assertEquals(await statusOfConsent(env, flow.consentId), "Consumed");
  assertEquals([...env.books.orders.values()].map(({ executions }) => executions), [1]);
  const history = await historyOf(env.store, made.DomesticPaymentId);
  assertEquals(history.map(({ event, actor }) => [event, actor]), [
    ["payment.AcceptedSettlementInProcess", "bank BANKA"],
  ]);
});

Deno.test("a payment that was made after the copy and erased since is not recovered [G9, EN11]", async () => {
  await using env = await openBookEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const copy = await copyOf(env);
  const { DomesticPaymentId: id } = await paid(env);
  await good(report(env, id, "AcceptedSettlementCompleted"), 200);
  await grow(env);
  await elapse(env, 90_000_000);
  await good(erase(env, id), 200);
  await restore(env, copy);
  const [status, answer] = await env.operate(RECONCILE, "");
  assertEquals([status, answer.Data.State, answer.Data.Recovered, answer.Data.Agreed], [
    200,
    "released",
    0,
    1,
  ]);
});

Deno.test("an order of the copy whose case was erased since is given up if it is released without a comparison [G9, O3]", async () => {
  await using env = await openBookEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const id = await erasedSinceCopy(env);
  await env.operate(`${HOLDS}/BANKA/release`, JSON.stringify({ Data: { Reason: "agreed by phone" } }));
  env.pushes.length = 0;
  for (let times = 0; times < 5; times++) await later(env, 5_000);
  assertEquals(env.pushes.length, 0);
  const order = await outboxOrder(env, id);
  assertEquals([order?.state, order?.lastFailure], ["dead", "its personal data was erased"]);
});

Deno.test("two parallel reconciliations of a lost payment find no disagreement [G9]", async () => {
  await using env = await openBookEnvironment();
  const flow = await authorised(env);
  const copy = await copyOf(env);
  const { DomesticPaymentId: id } = (await good(pay(env, flow), 201)).Data;
  await restore(env, copy);
  const [recovered, bothCompared] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { getMany, commit } = env.store;
  let second: ReturnType<typeof env.operate> | undefined;
  let compared = 0;
  env.store.getMany = async <T>(keys: readonly Key[]) => {
    const found = await getMany<T>(keys);
    if (second !== undefined || !keys.some(([kind, key]) => kind === "payment" && key === id)) return found;
    second = env.operate(RECONCILE, "");
    await recovered.promise; // the first one has read that there is no payment, and not yet the consent
    return found;
  };
  env.store.commit = async (staged) => {
    const kinds = staged.writes.map(({ kind, key: [name] }) => `${kind} ${name}`);
    if (kinds.includes("set payment")) return await commit(staged).finally(recovered.resolve);
    if (!kinds.some((kind) => kind.endsWith(" order_hold"))) return await commit(staged);
    if (++compared === 2) bothCompared.resolve();
    await bothCompared.promise;
    if (kinds.includes("delete order_hold")) await new Promise((resolve) => setTimeout(resolve, 50)); // after a hold
    return await commit(staged);
  };
  const answers = [await env.operate(RECONCILE, ""), await second ?? []];
  assertEquals(answers.map(([status]) => status).sort(), [200, 503], JSON.stringify(answers));
  const [, listed] = await env.operate(HOLDS);
  assertEquals(listed.Data.OrderHold?.map(({ BankId }) => BankId), ["BANKB"]);
});

Deno.test("reconciling recovers a payment whose consent was made after the copy [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  const made = await paid(env);
  await restore(env, copy);
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Recovered], ["released", 1]);
  assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementInProcess");
  const bound = await clientToken(env, env.otherTpp);
  const path = `/BANKA/domestic-payments/v1/${made.DomesticPaymentId}`;
  assertEquals((await call(env, env.otherTpp, bound, path)).status, 400, "of its own TPP alone");
});

Deno.test("reconciling moves a payment on and its order leaves the outbox unsent [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await lostAnswer(env);
  const [id, booked] = [...env.books.orders][0] ?? ["", undefined];
  if (booked !== undefined) booked.status = "AcceptedSettlementCompleted";
  await restore(env, copy);
  env.pushes.length = 0;
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Updated], ["released", 1]);
  assertEquals([await statusOf(env, id), await outboxOrder(env, id)], ["AcceptedSettlementCompleted", null]);
  await later(env, 3_600_000);
  assertEquals(env.pushes.length, 1, "the inquiry, and no order");
});

Deno.test("a status that the bank has reported since it signed the statement is no disagreement [G9]", async () => {
  await using env = await openBookEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, await copyOf(env));
  const statement = await env.books.statement({ Since: new Date(0).toISOString() });
  env.now += 60_000;
  await good(report(env, id, "AcceptedSettlementCompleted"), 200);
  const [, answer] = await env.operate(RECONCILE, statement);
  assertEquals([answer.Data.State, answer.Data.Agreed], ["released", 1], JSON.stringify(answer));
  assertEquals(await statusOf(env, id), "AcceptedSettlementCompleted");
});

Deno.test("reconciling brings the bank's reason of a rejected payment back, whether the store has the payment or not [G6] [G9]", async (t) => {
  const copies = {
    "the answer is lost": lostAnswer,
    "the payment is lost": async (env: BookEnvironment) => {
      const copy = await copyOf(env);
      await paid(env);
      return copy;
    },
  };
  await steps(t, copies, async (made) => {
    await using env = await openBookEnvironment();
    const copy = await made(env);
    const [id = ""] = env.books.orders.keys();
    env.books.tamper = (claims) => {
      Object.assign(firstOf(claims.Data.PaymentOrder), {
        Status: "Rejected",
        StatusReason: "AM04: Too\u0000little",
      });
      return claims;
    };
    await restore(env, copy);
    await env.operate(RECONCILE, "");
    const read = await payment(env, id);
    assertEquals([read.Status, read.StatusReason], ["Rejected", "AM04: Too\\u{0}little"]);
  });
});

for (
  const [stated, shown] of [
    ["2039-12-31T23:59:59Z", "2040-01-15T12:00:00+00:00"], // the creation
    ["2040-01-15T12:00:05Z", "2040-01-15T12:00:05+00:00"],
    ["2041-01-01T00:00:00Z", "2040-01-15T12:00:10+00:00"], // the reconciliation
  ] as const
) {
  Deno.test(`a recovered payment whose status the bank dates ${stated} has it from ${shown} [G9, PT10]`, async () => {
    await using env = await openBookEnvironment();
    const flow = await authorised(env);
    const copy = await copyOf(env);
    const { DomesticPaymentId: id, CreationDateTime } = (await good(pay(env, flow), 201)).Data;
    assertEquals(CreationDateTime, "2040-01-15T12:00:00+00:00");
    await restore(env, copy);
    env.now += 10_000;
    env.books.tamper = (claims) => {
      Object.assign(firstOf(claims.Data.PaymentOrder), { StatusUpdateDateTime: stated });
      return claims;
    };
    await env.operate(RECONCILE, "");
    assertEquals((await payment(env, id)).StatusUpdateDateTime, shown);
  });
}

Deno.test("an order that the bank states as Pending is pushed again after the reconciliation [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await lostAnswer(env);
  const [id, booked] = [...env.books.orders][0] ?? ["", undefined];
  if (booked !== undefined) booked.status = "Pending";
  await restore(env, copy);
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Agreed], ["released", 1]);
  if (booked !== undefined) booked.status = "AcceptedSettlementInProcess";
  await later(env, 60_000);
  await later(env, 60_000);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

Deno.test("an order that the bank does not have is sent once it is reconciled, and not before [G9]", async () => {
  await using env = await openBookEnvironment();
  const takes = env.answer;
  env.answer = down;
  const { DomesticPaymentId: id } = await paid(env);
  const copy = await copyOf(env);
  await restore(env, copy);
  env.answer = takes;
  await later(env, 120_000);
  assertEquals(env.books.orders.size, 0, "held");
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Agreed], ["released", 0]);
  await later(env, 10_000);
  assertEquals(env.books.orders.get(id)?.executions, 1);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

Deno.test("an order of the copy whose case was erased since is not sent again [G9, EN11]", async () => {
  await using env = await openBookEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const id = await erasedSinceCopy(env);
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Agreed], ["released", 1]);
  assertEquals(await outboxOrder(env, id), null);
  env.pushes.length = 0;
  await later(env, 60_000);
  assertEquals(env.pushes.length, 0);
});

/** An order of the restored copy whose payment was settled, and its case erased, after the copy. Returns the payment's id. */
async function erasedSinceCopy(env: BookEnvironment): Promise<string> {
  const takes = env.answer;
  env.answer = down;
  const { DomesticPaymentId: id } = await paid(env);
  const copy = await copyOf(env);
  env.answer = takes;
  await later(env, 5000);
  await good(report(env, id, "AcceptedSettlementCompleted"), 200);
  await grow(env);
  await elapse(env, 90_000_000);
  await good(erase(env, id), 200);
  await restore(env, copy);
  return id;
}

/** A payment that the bank executed although its answer got lost; the copy is from the moment after. */
async function lostAnswer(env: BookEnvironment): Promise<Copy> {
  const takes = env.answer;
  env.answer = async (push) => {
    await takes(push);
    return down();
  };
  await paid(env);
  env.answer = takes;
  return await copyOf(env);
}

async function statusOfConsent(env: BookEnvironment, consentId: string): Promise<string> {
  const bound = await clientToken(env, env.tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  return (await good<Payment>(call(env, env.tpp, bound, path), 200)).Data.Status;
}
