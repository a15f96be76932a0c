/** `PUT back-channel-payments/{id}`: a bank reports how a payment went (Decision D3; contract PT3 to PT10). */
import { assertEquals } from "@std/assert";
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
import { call, clientToken, good, type Json, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { openGatedStore } from "support/gated_store.ts";
import { payloadSignature } from "testing/jwts.ts";
import { down, openPushEnvironment, outboxKeys } from "support/orders.ts";
import { assertChallenge, assertCommonHeaders, assertFaults, unchanged } from "testing/resource_answers.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
import { data, idlePut } from "./status_reports.ts";
import { steps } from "support/steps.ts";

const IN_PROCESS = "AcceptedSettlementInProcess";
const COMPLETED = "AcceptedSettlementCompleted";
const NOT_POSTED = "AcceptedWithoutPosting";
const CREDITED = "AcceptedCreditSettlementCompleted";
const STATUSES = ["Pending", "Rejected", IN_PROCESS, COMPLETED, NOT_POSTED, CREDITED] as const;
type Status = typeof STATUSES[number];

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

async function order(env: Environment, id: string): Promise<Json> {
  return (await good(bankCall(env, env.bankA, orderPath(id)), 200)).Data;
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
          assertEquals([same.status, (await same.json()).Data], [200, before]);
        } else {
          const rejected = await idlePut(env, env.bankA, id, data(to));
          await assertFaults(rejected, 400, [["Field.Invalid", "Data.Status"]]);
          assertEquals(await order(env, id), before);
        }
      });
    }
  });
}

Deno.test("PUT back-channel-payments: the TPP reads what the bank reported, the consent stays Consumed [PAY-09] [D3]", async () => {
  await using env = await openEnvironment();
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
  const reported = (await good(response, 200)).Data;
  assertEquals([reported.Status, reported.Charges], [COMPLETED, Charges]);
  const path = `/BANKA/domestic-payments/v1/${made.DomesticPaymentId}`;
  const seen = (await good(call(env, env.tpp, flow.payment, path), 200)).Data;
  assertEquals([seen.Status, seen.Charges], [COMPLETED, Charges]);
  assertEquals(seen.StatusUpdateDateTime, "2040-01-15T12:01:00+00:00");
  assertEquals(seen.CreationDateTime, made.CreationDateTime);
  const consent = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  assertEquals((await good(call(env, env.tpp, flow.bound, consent), 200)).Data.Status, "Consumed");
});

Deno.test("PUT back-channel-payments: the same status again keeps the first report, Rejected keeps the consent Consumed [PT9]", async () => {
  await using env = await openEnvironment();
  const { data: made, flow } = await paidAt(env, env.bankA);
  const id = made.DomesticPaymentId;
  await good(putStatus(env, env.bankA, id, data("Rejected", { StatusReason: "No funds" })), 200);
  const before = await order(env, id);
  env.now = START + 60_000;
  const again = data("Rejected", { Charges: [{ Amount: { Amount: "9.99", Currency: "EUR" } }] });
  assertEquals((await idlePut(env, env.bankA, id, again)).status, 200);
  assertEquals(await order(env, id), before);
  const consent = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  assertEquals((await good(call(env, env.tpp, flow.bound, consent), 200)).Data.Status, "Consumed");
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

Deno.test("PUT back-channel-payments names every field that is wrong [D3]", async (t) => {
  await using env = await openEnvironment();
  const id = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  const amount = { Amount: "0.25", Currency: "EUR" };
  const cases: Readonly<Record<string, readonly [Json, ...(readonly [string, string])[]]>> = {
    "Status missing": [data(COMPLETED, { Status: undefined }), ["Field.Missing", "Data.Status"]],
    "Status unknown": [data("Completed"), ["Field.Invalid", "Data.Status"]],
    "Status in small letters": [data("rejected"), ["Field.Invalid", "Data.Status"]],
    "Status of another scheme": [data("RJCT"), ["Field.Invalid", "Data.Status"]],
    "time missing": [
      data(COMPLETED, { StatusUpdateDateTime: undefined }),
      ["Field.Missing", "Data.StatusUpdateDateTime"],
    ],
    "time without offset": [
      data(COMPLETED, { StatusUpdateDateTime: "2040-01-15T12:00:00" }),
      ["Field.InvalidDate", "Data.StatusUpdateDateTime"],
    ],
    "time that never was": [
      data(COMPLETED, { StatusUpdateDateTime: "2040-02-30T12:00:00Z" }),
      ["Field.InvalidDate", "Data.StatusUpdateDateTime"],
    ],
    "StatusReason of 257 characters": [
      data(COMPLETED, { StatusReason: "r".repeat(257) }),
      ["Field.Invalid", "Data.StatusReason"],
    ],
    "21 charges": [
      data(COMPLETED, { Charges: Array.from({ length: 21 }, () => ({ Amount: amount })) }),
      ["Field.Invalid", "Data.Charges"],
    ],
    "a charge below nothing": [
      data(COMPLETED, { Charges: [{ Amount: { ...amount, Amount: "-0.25" } }] }),
      ["Field.Invalid", "Data.Charges[0].Amount.Amount"],
    ],
    "an unknown member": [
      data(COMPLETED, { DomesticPaymentId: id }),
      ["Field.Unexpected", "Data.DomesticPaymentId"],
    ],
    "two faults": [{}, ["Field.Missing", "Data.Status"], ["Field.Missing", "Data.StatusUpdateDateTime"]],
  };
  await steps(t, cases, async ([changes, ...faults]) => {
    await assertFaults(await idlePut(env, env.bankA, id, changes), 400, faults);
  });
  await t.step("half a body", async () => {
    const response = await idlePut(env, env.bankA, id, {}, { body: '{"Data":' });
    await assertFaults(response, 400, [["Resource.InvalidFormat"]]);
  });
  await t.step("text/plain", async () => {
    const headers = { "content-type": "text/plain" };
    const response = await idlePut(env, env.bankA, id, data(COMPLETED), { headers });
    await assertFaults(response, 415, [["Header.Invalid", "Content-Type"]]);
  });
});

Deno.test("PUT back-channel-payments needs the bank's signature [BCH-02] [RP-N2] [RP-N3] [RP-N4]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("PUT back-channel-payments rejects TPPs and other banks, whose payments do not exist for it [C2] [RG-N9] [A3]", async (t) => {
  await using env = await openEnvironment();
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
    store.gather(2);
    const answers = await Promise.all(
      statuses.map((status) => putStatus(env, env.bankA, id, status, { bound })),
    );
    assertEquals(answers.map(({ status }) => status).toSorted(), [...expected]);
    const taken = await Promise.all(
      answers.filter(({ status }) => status === 200).map((answer) => answer.json()),
    );
    const { Status } = await order(env, id);
    assertEquals(taken.map(({ Data }) => Data.Status), taken.map(() => Status));
    const history = await env.store.list<{ event: string }>({ prefix: ["audit", id], limit: 100 });
    assertEquals(history.length, 2);
  });
});
