/** `PUT back-channel-payments/{id}`: a bank reports how a payment went (Decision D3; contract PT3 to PT10). */
import { assertEquals } from "@std/assert";
import { bodyOf, type Consent, type Payment, type PaymentOrder } from "testing/answers.ts";
import { bankCall, orderPath, paidAt, putStatus } from "testing/back_channel.ts";
import { call, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { down, openPushEnvironment, outboxKeys } from "support/orders.ts";
import { test } from "support/environment_test.ts";
import { assertCommonHeaders, errorBody } from "testing/resource_answers.ts";
import { type Environment, START } from "testing/environment.ts";
import { data, idlePut } from "./status_reports.ts";
import {
  COMPLETED,
  CREDITED,
  IN_PROCESS,
  NOT_POSTED,
  order,
  type Status,
  STATUSES,
} from "./order_statuses.ts";

/** How a payment gets from `Pending` to each status, and contract PT3 to PT8: where it may go from there. */
const WAY: Readonly<Record<Status, readonly Status[]>> = {
  Pending: [],
  Rejected: ["Rejected"],
  [IN_PROCESS]: [IN_PROCESS],
  [COMPLETED]: [IN_PROCESS, COMPLETED],
  [NOT_POSTED]: [IN_PROCESS, COMPLETED, NOT_POSTED],
  [CREDITED]: [IN_PROCESS, COMPLETED, CREDITED],
};

const MOVES: Readonly<Record<Status, readonly Status[]>> = {
  Pending: [IN_PROCESS, "Rejected"], // contract PT3, PT4
  Rejected: [], // contract PT10
  [IN_PROCESS]: [COMPLETED, "Rejected"], // contract PT5, PT4
  [COMPLETED]: [NOT_POSTED, CREDITED], // contract PT7, PT6
  [NOT_POSTED]: [CREDITED, "Rejected"], // contract PT8
  [CREDITED]: [], // contract PT10
};

/** A payment at bank A, whose push fails, brought to this status by the bank's reports. */
async function paymentIn(env: Environment, status: Status): Promise<string> {
  env.now += 30_000; // for so long a bank that keeps failing is left alone, and no customer is sent there
  const flow = await authorised(env);
  const id = (await good(pay(env, flow), 201)).Data.DomesticPaymentId;
  for (const next of WAY[status]) await good(putStatus(env, env.bankA, id, next), 200);
  assertEquals((await order(env, id)).Status, status);
  return id;
}

for (const from of STATUSES) {
  Deno.test(`PUT back-channel-payments moves a payment from ${from} where it may, and nowhere else [D3] [PAY-09]`, async (t) => {
    await using env = await openPushEnvironment(down);
    for (const to of STATUSES) {
      const legal = MOVES[from].includes(to);
      await t.step(`${legal ? "to" : from === to ? "again [PT9]" : "not to"} ${to}`, async () => {
        const id = await paymentIn(env, from);
        const before = await order(env, id);
        env.now += 1000;
        if (legal) {
          const moved = (await good(putStatus(env, env.bankA, id, to), 200)).Data;
          const at = new Date(env.now).toISOString().replace(".000Z", "+00:00");
          assertEquals(moved, { ...before, Status: to, StatusUpdateDateTime: at });
          assertEquals(await order(env, id), moved);
        } else if (from === to) {
          const same = await idlePut(env, env.bankA, id, data(to));
          assertEquals([same.status, (await bodyOf<PaymentOrder>(same)).Data], [200, before]);
        } else {
          const rejected = await idlePut(env, env.bankA, id, data(to));
          const { Errors: [told] } = await errorBody(rejected, 400);
          const message = MOVES[from].length === 0
            ? `Must be absent: ${from} is final, and no status follows it.`
            : `Must be a status that follows ${from}: ${MOVES[from].join(" or ")}.`;
          const expected = ["UK.OBIE.Field.Invalid", "Data.Status", message];
          assertEquals([told?.ErrorCode, told?.Path, told?.Message], expected);
          assertEquals(await order(env, id), before);
        }
      });
    }
  });
}

test("PUT back-channel-payments: the TPP reads what the bank reported, the consent stays Consumed [PAY-09] [D3]", async ({ env }) => {
  const { data: made, flow } = await paidAt(env, env.bankA);
  env.now += 60_000;
  const Charges = [{
    ChargeBearer: "BorneByDebtor",
    Type: "UK.OBIE.CHAPSOut",
    Amount: { Amount: "0.25", Currency: "EUR" },
  }];
  const changes = { StatusReason: "Debited", Charges, StatusUpdateDateTime: "2040-01-15" };
  const response = await bankCall(env, env.bankA, orderPath(made.DomesticPaymentId), {
    method: "PUT",
    body: JSON.stringify({ Data: data(COMPLETED, changes) }),
  });
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  assertCommonHeaders(response);
  const reported = (await good<PaymentOrder>(response, 200)).Data;
  assertEquals([reported.Status, reported.Charges], [COMPLETED, Charges]);
  const path = `/BANKA/domestic-payments/v1/${made.DomesticPaymentId}`;
  const seen = (await good<Payment>(call(env, env.tpp, flow.payment, path), 200)).Data;
  assertEquals([seen.Status, seen.Charges], [COMPLETED, Charges]);
  assertEquals(seen.StatusUpdateDateTime, "2040-01-15T12:01:00+00:00");
  assertEquals(seen.CreationDateTime, made.CreationDateTime);
  await good(putStatus(env, env.bankA, made.DomesticPaymentId, CREDITED), 200);
  assertEquals((await order(env, made.DomesticPaymentId)).Charges, Charges, "a later report without Charges");
  assertEquals((await good<Payment>(call(env, env.tpp, flow.payment, path), 200)).Data.Charges, Charges);
  const consent = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  assertEquals((await good<Consent>(call(env, env.tpp, flow.bound, consent), 200)).Data.Status, "Consumed");
});

test("PUT back-channel-payments: the same status again keeps the first report, Rejected keeps the consent Consumed [PT9]", async ({ env }) => {
  const { data: made, flow } = await paidAt(env, env.bankA);
  const id = made.DomesticPaymentId;
  await good(putStatus(env, env.bankA, id, data("Rejected", { StatusReason: "No funds" })), 200);
  const before = await order(env, id);
  env.now = START + 60_000;
  const again = data("Rejected", { Charges: [{ Amount: { Amount: "9.99", Currency: "EUR" } }] });
  assertEquals((await idlePut(env, env.bankA, id, again)).status, 200);
  assertEquals(await order(env, id), before);
  const consent = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  assertEquals((await good<Consent>(call(env, env.tpp, flow.bound, consent), 200)).Data.Status, "Consumed");
});

Deno.test("PUT back-channel-payments on a Pending payment takes its order out of the outbox [D3] [D4]", async () => {
  await using env = await openPushEnvironment(down);
  const id = await paymentIn(env, "Pending");
  assertEquals((await outboxKeys(env)).length > 0, true);
  await good(putStatus(env, env.bankA, id, "Rejected"), 200);
  assertEquals(await outboxKeys(env), []);
  env.pushes.length = 0;
  env.now += 3_600_000;
  assertEquals([await env.platform.deliverDueOrders(), env.pushes.length], [0, 0]);
});
