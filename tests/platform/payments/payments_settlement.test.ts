/** How a payment goes on, as its TPP sees it, while the bank reports on the back channel (table 2.2, Decision D3). */
import { assertEquals } from "@std/assert";
import { isLegalMove } from "../../../src/platform/payments/payment.ts";
import {
  type AtBank,
  authorised,
  call,
  clientToken,
  good,
  type Json,
  pay,
} from "../../../scripts/testing/flows.ts";
import { assertFaults, unchanged } from "../../../scripts/testing/resource_answers.ts";
import { CONSENTS, PAYMENTS } from "../../support/resource_calls.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

const STATUSES = [
  "Pending",
  "Rejected",
  "AcceptedSettlementInProcess",
  "AcceptedSettlementCompleted",
  "AcceptedWithoutPosting",
  "AcceptedCreditSettlementCompleted",
] as const;
type Status = typeof STATUSES[number];

/** P3 to P8. */
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
async function paid(world: World): Promise<{
  flow: AtBank;
  id: string;
  report: (status: Status) => Promise<Response>;
  seen: () => Promise<Json>;
}> {
  const flow = await authorised(world);
  const id = (await good(pay(world, flow), 201)).Data.DomesticPaymentId;
  const bank = await clientToken(world, world.bankA);
  const report = (Status: Status): Promise<Response> =>
    call(world, world.bankA, bank, `/BANKA/back-channel-payments/v1/${id}`, {
      method: "PUT",
      body: JSON.stringify({ Data: { Status, StatusUpdateDateTime: new Date(world.now).toISOString() } }),
    });
  const seen = async (): Promise<Json> =>
    (await good(call(world, world.tpp, flow.bound, `${PAYMENTS}/${id}`), 200)).Data;
  return { flow, id, report, seen };
}

Deno.test("a payment moves along the edges of table 2.2 only, and its consent stays Consumed [PAY-09]", async (t) => {
  await using world = await openWorld();
  for (const [name, way] of Object.entries(WAYS)) {
    const { flow, report, seen } = await paid(world);
    const steps: readonly Status[] = ["AcceptedSettlementInProcess", ...way];
    for (const [index, status] of steps.entries()) {
      await t.step(`${name}: step ${index}, ${status}`, async () => {
        world.now += 1000;
        if (index > 0) await good(report(status), 200);
        const { Status } = await seen();
        assertEquals(Status, status);
      });
    }
    const current = steps.at(-1) ?? "Pending";
    for (const next of STATUSES.filter((status) => status !== current && !EDGES[current].includes(status))) {
      await t.step(`${name}: not to ${next}`, async () => {
        await assertFaults(await unchanged(world, () => report(next)), 400, [[
          "Field.Invalid",
          "Data.Status",
        ]]);
      });
    }
    await t.step(`${name}: the same again changes nothing`, async () => {
      const before = await seen();
      world.now += 1000;
      await good(await unchanged(world, () => report(current)), 200);
      assertEquals(await seen(), before);
    });
    await t.step(`${name}: the consent stays Consumed`, async () => {
      const consent = await good(call(world, world.tpp, flow.bound, `${CONSENTS}/${flow.consentId}`), 200);
      assertEquals(consent.Data.Status, "Consumed");
    });
  }
});

Deno.test("isLegalMove knows the edges of table 2.2 and no others [PAY-09]", () => {
  for (const from of STATUSES) {
    for (const to of STATUSES) {
      assertEquals(isLegalMove(from, to), EDGES[from].includes(to), `${from} -> ${to}`);
    }
  }
});

Deno.test("a retry of POST domestic-payments answers the payment as it stands now [IDE-09] [PAY-09]", async () => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const first = await good(pay(world, flow, { idempotencyKey: "k" }), 201);
  const bank = await clientToken(world, world.bankA);
  world.now += 5000;
  const Charges = [{ Amount: { Amount: "0.25", Currency: "EUR" } }];
  await good(
    call(world, world.bankA, bank, `/BANKA/back-channel-payments/v1/${first.Data.DomesticPaymentId}`, {
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
  const again = await good(pay(world, flow, { idempotencyKey: "k" }), 201);
  const changed = {
    Status: "Rejected",
    StatusReason: "AC04",
    StatusUpdateDateTime: "2040-01-15T12:00:05+00:00",
    Charges,
  };
  assertEquals(again, { ...first, Data: { ...first.Data, ...changed } });
});
