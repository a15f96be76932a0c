import { assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { payloadSignature } from "testing/jwts.ts";
import {
  assertIndistinguishable,
  assertNotFound,
  idleBankCall,
  NO_TOKEN_HERE,
  NOT_A_BANK,
  orderPath,
  paidAt,
  putStatus,
} from "testing/back_channel.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { openGatedStore } from "support/gated_store.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { openEnvironment } from "testing/environment.ts";
import { data, idlePut } from "./status_reports.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { COMPLETED, IN_PROCESS, order } from "./order_statuses.ts";
import { edited } from "../../guards/http/edited.ts";
import { type FaultyField, rejectsFields } from "../../guards/http/faulty_fields.ts";
import { unchanged } from "testing/store_contents.ts";

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
