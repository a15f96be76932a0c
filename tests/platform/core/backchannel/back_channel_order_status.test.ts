/** `PUT back-channel-payments/{id}`: a bank reports how a payment went (Decision D3; contract PT3 to PT10). */
import { assertEquals } from "@std/assert";
import { bodyOf, type Consent, type Payment, type PaymentOrder } from "testing/answers.ts";
import {
  assertIndistinguishable,
  assertNotFound,
  bankCall,
  idleBankCall,
  NO_TOKEN_HERE,
  NOT_A_BANK,
  orderPath,
  paidAt,
  putStatus,
} from "testing/back_channel.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { down, openPushEnvironment, outboxKeys } from "support/orders.ts";
import { test } from "support/environment_test.ts";
import { assertChallenge, assertCommonHeaders, assertFaults, errorBody } from "testing/resource_answers.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
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
import { payloadSignature } from "testing/jwts.ts";
import { openGatedStore } from "support/gated_store.ts";
import { steps } from "support/steps.ts";
import { edited } from "../../guards/http/edited.ts";
import { type FaultyField, rejectsFields } from "../../guards/http/faulty_fields.ts";
import { unchanged } from "testing/store_contents.ts";

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

test("PUT back-channel-payments names every field that is wrong or missing by its path [D3]", async ({ env, t }) => {
  const id = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  const charge = {
    ChargeBearer: "BorneByDebtor",
    Type: "UK.OBIE.CHAPSOut",
    Amount: { Amount: "0.25", Currency: "EUR" },
  };
  const full = { Data: data(COMPLETED, { StatusReason: "Booked", Charges: [charge] }) };
  const noDates = ["2040-01-15T12:00:00", "2040-02-30T12:00:00Z", "yesterday"];
  const fields: readonly FaultyField[] = [
    ["Data", "Field.Missing", [undefined]],
    ["Data.Status", "Field.Missing", [undefined]],
    ["Data.Status", "Field.Invalid", ["Completed", "rejected", "RJCT", "Accepted", "ACSC"]],
    ["Data.StatusUpdateDateTime", "Field.Missing", [undefined]],
    ["Data.StatusUpdateDateTime", "Field.InvalidDate", noDates],
    ["Data.StatusUpdateDateTime", "Field.Invalid", [1780315200]],
    ["Data.StatusReason", "Field.Invalid", ["", "a\u001bb", "r".repeat(257)]],
    ["Data.Charges", "Field.Invalid", [Array(21).fill(charge)]],
    ["Data.Charges[0].ChargeBearer", "Field.Invalid", ["Nobody"]],
    ["Data.Charges[0].Amount", "Field.Missing", [undefined]],
    ["Data.Charges[0].Amount.Amount", "Field.Missing", [undefined]],
    ["Data.Charges[0].Amount.Amount", "Field.Invalid", ["-0.25", 0.25]],
    ["Data.Charges[0].Amount.Currency", "Field.Invalid", ["ZZZ"]],
    ["Data.DomesticPaymentId", "Field.Unexpected", [id]],
  ];
  const send = (body: unknown, options = {}): Promise<Response> =>
    idlePut(env, env.bankA, id, {}, { body: JSON.stringify(body), ...options });
  await rejectsFields(t, fields, (path, value) => send(edited(full, path, value)));
  await t.step("two faults", async () => {
    const missing = ["Status", "StatusUpdateDateTime"].map((name) =>
      ["Field.Missing", `Data.${name}`] as const
    );
    await assertFaults(await send({ Data: {} }), 400, missing);
  });
  await t.step("half a body", async () => {
    await assertFaults(await send(full, { body: '{"Data":' }), 400, [["Resource.InvalidFormat"]]);
  });
  await t.step("text/plain", async () => {
    const response = await send(full, { headers: { "content-type": "text/plain" } });
    await assertFaults(response, 415, [["Header.Invalid", "Content-Type"]]);
  });
  await t.step("and takes a report without charges", async () => {
    const answer = await good(putStatus(env, env.bankA, id, data(COMPLETED, { Charges: [] })), 200);
    assertEquals(answer.Data.Charges, []);
  });
});

test("PUT back-channel-payments needs the bank's signature [BCH-02] [RP-N2] [RP-N3] [RP-N4]", async ({ env, t }) => {
  const { bankA, bankB } = env;
  const id = (await paidAt(env, bankA)).data.DomesticPaymentId;
  const body = JSON.stringify({ Data: data("Rejected") });
  const cases: Readonly<Record<string, readonly [string | null, readonly [string, string]]>> = {
    "none": [null, ["Signature.Missing", "x-jws-signature"]],
    "over another status": [
      await payloadSignature(env, bankA, body.replace("Rejected", COMPLETED)),
      ["Signature.Invalid", "x-jws-signature"],
    ],
    "by another bank": [
      await payloadSignature(env, bankA, body, { key: bankB.signing }),
      ["Signature.InvalidClaim", "kid"],
    ],
  };
  await steps(t, cases, async ([signature, fault]) => {
    await assertFaults(await idlePut(env, bankA, id, {}, { body, signature }), 400, [fault]);
  });
  await t.step("and takes the bank's own", async () => {
    await good(putStatus(env, bankA, id, "Rejected"), 200);
  });
});

test("PUT back-channel-payments rejects TPPs and other banks, whose payments do not exist for it [C2] [RG-N9] [A3]", async ({ env, t }) => {
  const { bankA, bankB, tpp } = env;
  const { data: made, flow } = await paidAt(env, bankA);
  const id = made.DomesticPaymentId;
  const options = { method: "PUT", body: JSON.stringify({ Data: data("Rejected") }) };
  await t.step("a TPP", async () => {
    const response = await unchanged(env, () => call(env, tpp, flow.payment, orderPath(id), options));
    await assertChallenge(response, 403, NOT_A_BANK);
  });
  await t.step("another bank at this bank's address", async () => {
    await assertChallenge(await idleBankCall(env, bankB, orderPath(id), options), 401, NO_TOKEN_HERE);
  });
  await t.step("another bank at its own address, and ids that do not exist", async () => {
    const answers: Response[] = [];
    for (const other of [id, "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11", "payment"]) {
      const response = await idlePut(env, bankB, other, data("Rejected"));
      await assertNotFound(response.clone());
      answers.push(response);
    }
    await assertIndistinguishable(answers);
  });
  await t.step("the payment is as it was", async () => {
    assertEquals((await order(env, id)).Status, IN_PROCESS);
  });
});

Deno.test("PUT back-channel-payments: of parallel contradicting reports one is taken, of the same both [D3]", async (t) => {
  const cases = {
    "Rejected and Completed": [["Rejected", COMPLETED], [200, 400]],
    "Rejected twice": [["Rejected", "Rejected"], [200, 200]],
  } as const;
  await steps(t, cases, async ([statuses, expected]) => {
    const store = await openGatedStore();
    await using env = await openEnvironment({ store });
    const id = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
    const bound = await clientToken(env, env.bankA);
    const answers = await store.together(
      statuses.map((status) => () => putStatus(env, env.bankA, id, status, { bound })),
    );
    assertEquals(answers.map(({ status }) => status).toSorted(), [...expected]);
    const taken = await Promise.all(
      answers.filter(({ status }) => status === 200).map((answer) => bodyOf(answer)),
    );
    const { Status } = await order(env, id);
    assertEquals(taken.map(({ Data }) => Data.Status), taken.map(() => Status));
    const history = await env.store.list<{ event: string }>({ prefix: ["audit", id], limit: 100 });
    assertEquals(history.length, 2);
  });
});
