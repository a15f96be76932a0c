/** How a payment goes on, as its TPP sees it, while the bank reports on the back channel (contract PT3 to PT10; Decision D3). */
import { assertEquals } from "@std/assert";
import { isLegalMove } from "../../../../src/platform/core/payments/payment.ts";
import type { Consent, Payment } from "testing/answers.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import { type AtBank, authorised } from "testing/authorization_flow.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { test } from "support/environment_test.ts";
import { type Environment } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

const STATUSES = [
  "Pending",
  "Rejected",
  "AcceptedSettlementInProcess",
  "AcceptedSettlementCompleted",
  "AcceptedWithoutPosting",
  "AcceptedCreditSettlementCompleted",
] as const;
type Status = typeof STATUSES[number];

/** Contract PT3 to PT8. */
const EDGES: Readonly<Record<Status, readonly Status[]>> = {
  Pending: ["AcceptedSettlementInProcess", "Rejected"],
  Rejected: [],
  AcceptedSettlementInProcess: ["AcceptedSettlementCompleted", "Rejected"],
  AcceptedSettlementCompleted: ["AcceptedWithoutPosting", "AcceptedCreditSettlementCompleted"],
  AcceptedWithoutPosting: ["AcceptedCreditSettlementCompleted", "Rejected"],
  AcceptedCreditSettlementCompleted: [],
};
/** How a payment of a bank that pulls its orders comes to each status. */
const WAYS: Readonly<Record<string, readonly Status[]>> = {
  AcceptedSettlementInProcess: [],
  Rejected: ["Rejected"],
  AcceptedSettlementCompleted: ["AcceptedSettlementCompleted"],
  AcceptedWithoutPosting: ["AcceptedSettlementCompleted", "AcceptedWithoutPosting"],
  AcceptedCreditSettlementCompleted: ["AcceptedSettlementCompleted", "AcceptedCreditSettlementCompleted"],
  "Rejected after all": ["AcceptedSettlementCompleted", "AcceptedWithoutPosting", "Rejected"],
};

/** A payment, the eyes of its TPP, and the pen of its bank. */
async function paid(env: Environment): Promise<{
  flow: AtBank;
  id: string;
  report: (status: Status) => Promise<Response>;
  seen: () => Promise<Payment["Data"]>;
}> {
  const flow = await authorised(env);
  const id = (await good(pay(env, flow), 201)).Data.DomesticPaymentId;
  const bank = await clientToken(env, env.bankA);
  const report = (Status: Status): Promise<Response> =>
    call(env, env.bankA, bank, `/BANKA/back-channel-payments/v1/${id}`, {
      method: "PUT",
      body: JSON.stringify({ Data: { Status, StatusUpdateDateTime: new Date(env.now).toISOString() } }),
    });
  const seen = async (): Promise<Payment["Data"]> =>
    (await good<Payment>(call(env, env.tpp, flow.bound, `${PAYMENTS}/${id}`), 200)).Data;
  return { flow, id, report, seen };
}

test("a payment moves along its legal moves only, and its consent stays Consumed [PAY-09]", async ({ env, t }) => {
  for (const [name, way] of Object.entries(WAYS)) {
    const { flow, report, seen } = await paid(env);
    const steps: readonly Status[] = ["AcceptedSettlementInProcess", ...way];
    for (const [index, status] of steps.entries()) {
      await t.step(`${name}: step ${index}, ${status}`, async () => {
        env.now += 1000;
        if (index > 0) await good(report(status), 200);
        const { Status } = await seen();
        assertEquals(Status, status);
      });
    }
    const current = steps.at(-1) ?? "Pending";
    for (const next of STATUSES.filter((status) => status !== current && !EDGES[current].includes(status))) {
      await t.step(`${name}: not to ${next}`, async () => {
        await assertFaults(await unchanged(env, () => report(next)), 400, [["Field.Invalid", "Data.Status"]]);
      });
    }
    await t.step(`${name}: the same again changes nothing`, async () => {
      const before = await seen();
      env.now += 1000;
      await good(await unchanged(env, () => report(current)), 200);
      assertEquals(await seen(), before);
    });
    await t.step(`${name}: the consent stays Consumed`, async () => {
      const consent = await good<Consent>(
        call(env, env.tpp, flow.bound, `${CONSENTS}/${flow.consentId}`),
        200,
      );
      assertEquals(consent.Data.Status, "Consumed");
    });
  }
});

Deno.test("isLegalMove knows the legal moves and no others [PAY-09]", () => {
  for (const from of STATUSES) {
    for (const to of STATUSES) {
      assertEquals(isLegalMove(from, to), EDGES[from].includes(to), `${from} -> ${to}`);
    }
  }
});

test("a retry of POST domestic-payments answers the payment as it stands now [IDE-09] [PAY-09] [PR5]", async ({ env }) => {
  const flow = await authorised(env);
  const first = await good(pay(env, flow, { idempotencyKey: "k" }), 201);
  const bank = await clientToken(env, env.bankA);
  env.now += 5000;
  const Charges = [{ Amount: { Amount: "0.25", Currency: "EUR" } }];
  await good(
    call(env, env.bankA, bank, `/BANKA/back-channel-payments/v1/${first.Data.DomesticPaymentId}`, {
      method: "PUT",
      body: JSON.stringify({
        Data: {
          Status: "Rejected",
          StatusUpdateDateTime: "2040-01-15T12:00:05Z",
          StatusReason: "AC04",
          Charges,
        },
      }),
    }),
    200,
  );
  const again = await good(pay(env, flow, { idempotencyKey: "k" }), 201);
  const changed = {
    Status: "Rejected",
    StatusReasonCode: "NARR",
    StatusReason: "AC04",
    StatusUpdateDateTime: "2040-01-15T12:00:05+00:00",
    Charges,
  };
  assertEquals(again, { ...first, Data: { ...first.Data, ...changed } });
});
