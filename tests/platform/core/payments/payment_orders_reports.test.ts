/** The bank's own reports and its answers to pushes, in any order [D2, D3, D4]. */
import { assertEquals } from "@std/assert";
import { bodyOf, type PaymentOrders, type ResourceError } from "testing/answers.ts";
import { call, clientToken, good } from "testing/flows.ts";
import {
  accepts,
  answers,
  down,
  history,
  later,
  openPushEnvironment,
  orderIdOf,
  outboxKeys,
  paid,
  type PushEnvironment,
  report,
  statusOf,
} from "support/orders.ts";
import { testWith } from "support/environment_test.ts";

const test = testWith(() => openPushEnvironment(down));

const ACCEPTED = "AcceptedSettlementInProcess";

Deno.test("A report that comes before the push is answered counts, and the answer changes nothing more [D3]", async () => {
  await using env = await openPushEnvironment();
  env.answer = async (push) => {
    assertEquals((await report(env, orderIdOf(push), ACCEPTED)).status, 200);
    assertEquals((await report(env, orderIdOf(push), "AcceptedSettlementCompleted")).status, 200);
    return Response.json({ Status: ACCEPTED });
  };
  const made = await paid(env);
  assertEquals(made.Status, "AcceptedSettlementCompleted");
  assertEquals(await outboxKeys(env), []);
  assertEquals(env.logged.filter((line) => line.includes('"order.delivered"')), []);
  assertEquals((await history(env, made.DomesticPaymentId)).slice(1), [
    `payment.${ACCEPTED} by ${env.bankA.clientId}`,
    `payment.AcceptedSettlementCompleted by ${env.bankA.clientId}`,
  ]);
});

test("A report of the bank's answers the order: it is not pushed again [D3]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  await good(report(env, id, ACCEPTED), 200);
  assertEquals(await outboxKeys(env), []);
  assertEquals(await later(env, 600_000), 0);
  assertEquals([env.pushes.length, await statusOf(env, id)], [1, ACCEPTED]);
});

test("A report of Rejected ends an order that could not be pushed [D3, PT4]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  await good(report(env, id, "Rejected"), 200);
  assertEquals([await outboxKeys(env), await statusOf(env, id)], [[], "Rejected"]);
});

test("A report takes an order out of the dead letters [D3]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  assertEquals(await outboxKeys(env), [`outbox ${id}`, `outbox_dead ${id}`]);
  await good(report(env, id, ACCEPTED), 200);
  assertEquals([await outboxKeys(env), await statusOf(env, id)], [[], ACCEPTED]);
});

test("A report of Pending changes nothing: the order is still to be pushed [PT9]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  await good(report(env, id, "Pending"), 200);
  env.answer = accepts;
  assertEquals([await later(env, 1250), await statusOf(env, id)], [1, ACCEPTED]);
});

test("A report that skips the acceptance is rejected and leaves the order to be pushed [D3]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  const before = await env.snapshot();
  const answer = await report(env, id, "AcceptedSettlementCompleted");
  assertEquals([answer.status, (await bodyOf<ResourceError>(answer)).Errors[0]?.Path], [400, "Data.Status"]);
  const tokens = (entries: Awaited<typeof before>) => entries.filter(({ key }) => key[0] !== "access_token");
  assertEquals(tokens(await env.snapshot()), tokens(before));
});

Deno.test("A bank that answers Rejected after it reported the acceptance has rejected [PT4]", async () => {
  await using env = await openPushEnvironment();
  env.answer = async (push) => {
    await good(report(env, orderIdOf(push), ACCEPTED), 200);
    return Response.json({ Status: "Rejected" });
  };
  assertEquals((await paid(env)).Status, "Rejected");
});

Deno.test("A bank that accepts what it has reported as Rejected has rejected it: that is final [PT10]", async () => {
  await using env = await openPushEnvironment();
  env.answer = async (push) => {
    await good(report(env, orderIdOf(push), "Rejected"), 200);
    return Response.json({ Status: ACCEPTED });
  };
  const made = await paid(env);
  assertEquals(made.Status, "Rejected");
  assertEquals(await outboxKeys(env), []);
});

test("20 parallel reports and a push record each step once [D3]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  env.answer = answers(ACCEPTED);
  env.now += 1250;
  const reports = Array.from({ length: 20 }, () => report(env, id, ACCEPTED));
  const [, ...statuses] = await Promise.all([
    env.platform.deliverDueOrders(),
    ...reports.map(async (answer) => (await answer).status),
  ]);
  assertEquals(new Set(statuses), new Set([200]));
  const accepted = (await history(env, id)).filter((line) => line.startsWith(`payment.${ACCEPTED} `));
  assertEquals([accepted.length, await statusOf(env, id), await outboxKeys(env)], [1, ACCEPTED, []]);
});

test("GET back-channel-payments lists the Pending order with all that a bank needs to execute it [D2]", async ({ env }) => {
  const { DomesticPaymentId: id, ConsentId } = await paid(env);
  const { PaymentOrder } = await pulled(env, "?status=Pending");
  assertEquals(PaymentOrder.map((order) => [order.DomesticPaymentId, order.ConsentId, order.Status]), [
    [id, ConsentId, "Pending"],
  ]);
  assertEquals(PaymentOrder[0]?.DebtorAccount.Identification, "GB33BUKB20201555555555");
  assertEquals(PaymentOrder[0]?.Initiation.InstructedAmount, { Amount: "165.88", Currency: "EUR" });
  await good(report(env, id, ACCEPTED), 200);
  assertEquals((await pulled(env, "?status=Pending")).PaymentOrder, []);
  assertEquals((await pulled(env, "")).PaymentOrder.length, 1);
});

async function pulled(env: PushEnvironment, query: string): Promise<PaymentOrders["Data"]> {
  const bound = await clientToken(env, env.bankA, "BANKA");
  const path = `/BANKA/back-channel-payments/v1${query}`;
  return (await good<PaymentOrders>(call(env, env.bankA, bound, path), 200)).Data;
}
