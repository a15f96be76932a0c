/** `PUT back-channel-payments/{id}`: whose time a reported status has (Decision D3; contract PR6). */
import { assertEquals } from "@std/assert";
import { historyOf } from "testing/histories.ts";
import type { Payment, PaymentOrder } from "testing/answers.ts";
import { bankCall, orderPath, paidAt, putStatus } from "testing/back_channel.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

const COMPLETED = "AcceptedSettlementCompleted";
const NOT_POSTED = "AcceptedWithoutPosting";
const CREDITED = "AcceptedCreditSettlementCompleted";

Deno.test("PUT back-channel-payments: a payment's StatusUpdateDateTime is the bank's, between the status before and now [D3]", async (t) => {
  const cases: Readonly<Record<string, readonly [claimed: string, shown: string]>> = {
    "a moment ago": ["2040-01-16T09:29:58Z", "2040-01-16T09:29:58+00:00"],
    "yesterday, by another zone's clock": ["2040-01-15T20:15:30.900+05:00", "2040-01-15T15:15:30+00:00"],
    "before the payment was there": ["2040-01-15T11:59:59Z", "2040-01-15T12:00:00+00:00"],
    "long before": ["1970-01-01T00:00:00Z", "2040-01-15T12:00:00+00:00"],
    "in the future": ["2040-01-16T09:30:01Z", "2040-01-16T09:30:00+00:00"],
    "beyond every calendar": ["9999-12-31T23:59:59Z", "2040-01-16T09:30:00+00:00"],
    "a date, of today": ["2040-01-16", "2040-01-16T09:30:00+00:00"],
    "a date, of yesterday": ["2040-01-15", "2040-01-15T23:59:59+00:00"],
    "a date before the payment was there": ["2040-01-14", "2040-01-15T12:00:00+00:00"],
  };
  await steps(t, cases, async ([claimed, shown]) => {
    await using env = await openEnvironment();
    const id = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
    env.now = Date.UTC(2040, 0, 16, 9, 30);
    const reported = { Status: COMPLETED, StatusUpdateDateTime: claimed };
    const answer = await good(putStatus(env, env.bankA, id, reported), 200);
    assertEquals(answer.Data.StatusUpdateDateTime, shown);
    const order = await good<PaymentOrder>(bankCall(env, env.bankA, orderPath(id)), 200);
    assertEquals(order.Data.StatusUpdateDateTime, shown);
    const bound = await clientToken(env, env.tpp);
    const seen = await good<Payment>(call(env, env.tpp, bound, `/BANKA/domestic-payments/v1/${id}`), 200);
    assertEquals(seen.Data.StatusUpdateDateTime, shown);
    assertEquals(seen.Data.CreationDateTime, "2040-01-15T12:00:00+00:00");
    const last = (await historyOf(env.store, id)).at(-1); // when the platform heard of it
    assertEquals([last?.event, last?.at], [`payment.${COMPLETED}`, env.now]);
  });
});

Deno.test("PUT back-channel-payments: of two reports the later status never begins before the earlier one [D3]", async () => {
  await using env = await openEnvironment();
  const id = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  env.now += 60_000;
  const times: string[] = [];
  for (const [status, at] of [[COMPLETED, "12:00:40"], [NOT_POSTED, "12:00:10"], [CREDITED, "12:00:50"]]) {
    const report = { Status: status, StatusUpdateDateTime: `2040-01-15T${at}Z` };
    times.push((await good(putStatus(env, env.bankA, id, report), 200)).Data.StatusUpdateDateTime);
  }
  assertEquals(times.map((time) => time.slice(11, 19)), ["12:00:40", "12:00:40", "12:00:50"]);
});
