/** `PUT back-channel-auth/{ConsentId}`: rejected reports, which change no state (contract EP12; Decision C11). */
import { assertEquals } from "@std/assert";
import { payloadSignature } from "testing/jwts.ts";
import {
  ACCOUNTS,
  assertIndistinguishable,
  assertNotFound,
  consentPath,
  idleBankCall,
  idleReport,
  NO_TOKEN_HERE,
  NOT_A_BANK,
  putReport,
  report,
  reportFor,
} from "testing/back_channel.ts";
import { call, good } from "testing/flows.ts";
import { toBank } from "testing/authorization_flow.ts";
import { assertBare, assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { edited } from "../../guards/http/edited.ts";
import { type FaultyField, rejectsFields } from "../../guards/http/faulty_fields.ts";
import { unchanged } from "testing/store_contents.ts";

test("PUT back-channel-auth for another bank's consent, or none, answers what does not exist [RP-N25] [C2]", async ({ env }) => {
  const flow = await toBank(env);
  const atB = await toBank(env, { bank: env.bankB });
  const answers: Response[] = [];
  for (const id of [atB.consentId, "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11", "consent"]) {
    const response = await idleReport(env, { ...flow, consentId: id }, report("BANKA", id));
    await assertNotFound(response.clone());
    answers.push(response);
  }
  await assertIndistinguishable(answers);
});

test("PUT back-channel-auth names every field that is wrong or missing by its path [BCH-04] [RP-N25]", async ({ env, t }) => {
  const [flow, atB] = [await toBank(env), await toBank(env, { bank: env.bankB })];
  const first = { ...ACCOUNTS[0], SchemeName: "UK.OBIE.IBAN", SecondaryIdentification: "SUB-1" };
  const second = { SchemeName: "UK.OBIE.SortCodeAccountNumber", Identification: "11280001234567" };
  const full = reportFor(flow, { DebtorAccount: [first, second] });
  const other = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
  const tooMany = Array.from({ length: 101 }, (_, n) => ({
    ...second,
    Identification: `1128000${String(n).padStart(7, "0")}`,
  }));
  const identifier = "Unsupported.AccountIdentifier";
  const numbers = ["11280001234567", "11-28-00 01234567", "sub-1", "4111111111111111", first.Identification];
  const ibans = ["GB29NWBK60161331926819", "GB29 NWBK 6016 1331 9268 19", "DE89370400440532013000"];
  const fields: readonly FaultyField[] = [
    ["Data", "Field.Missing", [undefined]],
    ["Data.BankId", "Field.Missing", [undefined]],
    ["Data.BankId", "Field.Invalid", ["BANKB", "banka"]],
    ["Data.ConsentId", "Field.Missing", [undefined]],
    ["Data.ConsentId", "Field.Invalid", [other, "zzz", "", 5, null]],
    ["Data.Sub", "Field.Missing", [undefined]],
    ["Data.Sub", "Field.Invalid", ["", "s".repeat(71), 5, null, ...ibans, ...numbers]],
    ["Data.DebtorAccount", "Field.Missing", [undefined, []]],
    ["Data.DebtorAccount", "Field.Invalid", ["text", first, tooMany]],
    ["Data.DebtorAccount[1]", "Field.Invalid", ["text", first, { ...first, SchemeName: "IBAN" }]],
    ["Data.DebtorAccount[1]", "Field.Invalid", [{ ...first, Balance: "1.00" }]],
    ["Data.DebtorAccount[1].SchemeName", "Field.Missing", [undefined]],
    ["Data.DebtorAccount[0].SchemeName", "Unsupported.Scheme", ["zzzz", "UK.OBIE.Unknown"]],
    ["Data.DebtorAccount[0].Identification", "Field.Missing", [undefined]],
    ["Data.DebtorAccount[0].Identification", identifier, ["GB30NWBK60161331926819"]],
    ["Data.DebtorAccount[1].Identification", identifier, ["1128"]],
    ["Data.DebtorAccount[0].SecondaryIdentification", "Unsupported.AccountSecondaryIdentifier", [
      "x".repeat(35),
    ]],
    ["Data.DebtorAccount[0].Balance", "Field.Invalid", ["1,500.00", 1500, "1.123456"]],
    ["Data.DebtorAccount[0].Currency", "Field.Invalid", ["ZZZ", "eur"]],
    ["Data.DebtorAccount[0].Name", "Field.Unexpected", ["Alice"]], // not the bank's to say
    ["Data.Status", "Field.Unexpected", ["Authorized"]],
    ["Risk", "Field.Unexpected", [{}]],
  ];
  await rejectsFields(t, fields, (path, value) => idleReport(env, flow, edited(full, path, value)));
  await stepsOf(t, [[], undefined], (list) => `${list} for the bank's own screen`, async (DebtorAccount) => {
    const response = await idleReport(env, atB, reportFor(atB, { DebtorAccount }));
    await assertFaults(response, 400, [["Field.Missing", "Data.DebtorAccount"]]);
  });
  await t.step("three faults at once", async () => {
    const changes = { BankId: "BANKB", Sub: "", DebtorAccount: [] };
    await assertFaults(await idleReport(env, flow, reportFor(flow, changes)), 400, [
      ["Field.Invalid", "Data.BankId"],
      ["Field.Missing", "Data.DebtorAccount"],
      ["Field.Invalid", "Data.Sub"],
    ]);
  });
  await t.step("and nothing else was wrong with it", async () => {
    await good(putReport(env, flow, full), 200);
  });
});

test("PUT back-channel-auth rejects what is no JSON of the right kind [RP-N10] [RP-N12] [RP-N13] [RP-N14] [RP-N15]", async ({ env, t }) => {
  const flow = await toBank(env);
  const body = JSON.stringify(reportFor(flow));
  const malformed = {
    "half of it": body.slice(0, -1),
    "more behind it": `${body}{}`,
    "a member twice": body.replace('"Sub":"customer-1"', '"Sub":"customer-2","Sub":"customer-1"'),
    "a byte order mark": `\uFEFF${body}`,
    "nothing": "",
  };
  await steps(t, malformed, async (text) => {
    await assertFaults(await idleReport(env, flow, text), 400, [["Resource.InvalidFormat"]]);
  });
  await t.step("text/plain", async () => {
    const headers = { "content-type": "text/plain" };
    await assertFaults(await idleReport(env, flow, body, { headers }), 415, [[
      "Header.Invalid",
      "Content-Type",
    ]]);
  });
  await t.step("gzip", async () => {
    const headers = { "content-encoding": "gzip" };
    const response = await idleReport(env, flow, body, { headers });
    await assertFaults(response, 415, [["Header.Invalid", "Content-Encoding"]]);
  });
  await t.step("more than 64 KiB", async () => {
    assertEquals((await idleReport(env, flow, body.padEnd(65_537))).status, 413);
  });
});

test("PUT back-channel-auth needs the bank's signature over these bytes [BCH-02] [RP-N2] [RP-N3] [RP-N4]", async ({ env, t }) => {
  const { bankA, bankB, tpp } = env;
  const flow = await toBank(env);
  const body = JSON.stringify(reportFor(flow));
  await t.step("none", async () => {
    const response = await idleReport(env, flow, body, { signature: null });
    await assertFaults(response, 400, [["Signature.Missing", "x-jws-signature"]]);
  });
  await t.step("over other bytes", async () => {
    const signature = await payloadSignature(env, bankA, `${body} `);
    const response = await idleReport(env, flow, body, { signature });
    await assertFaults(response, 400, [["Signature.Invalid", "x-jws-signature"]]);
  });
  for (const [name, signer] of Object.entries({ "another bank": bankB, "a TPP": tpp })) {
    await t.step(`by ${name} in its own name`, async () => {
      const signature = await payloadSignature(env, signer, body);
      const response = await idleReport(env, flow, body, { signature });
      await assertFaults(response, 400, [["Signature.InvalidClaim", "http://openbanking.org.uk/iss"]]);
    });
    await t.step(`by ${name} in the bank's name`, async () => {
      const signature = await payloadSignature(env, bankA, body, { key: signer.signing });
      const response = await idleReport(env, flow, body, { signature });
      await assertFaults(response, 400, [["Signature.InvalidClaim", "kid"]]);
    });
  }
  await t.step("by the bank's transport key", async () => {
    const signature = await payloadSignature(env, bankA, body, { key: bankA.transport });
    const response = await idleReport(env, flow, body, { signature });
    await assertFaults(response, 400, [["Signature.InvalidClaim", "kid"]]);
  });
  for (const profile of ["A", "B"] as const) {
    await t.step(`the bank's own in profile ${profile} [RP-N8]`, async () => {
      await good(putReport(env, flow, body, { profile }), 200);
    });
  }
});

test("PUT back-channel-auth rejects TPPs, other banks and other certificates [BCH-02] [RG-N9] [RP-N1]", async ({ env, t }) => {
  const { tpp, bankB } = env;
  const flow = await toBank(env);
  const path = consentPath(flow.consentId);
  const options = { method: "PUT", body: JSON.stringify(reportFor(flow)) };
  await t.step("a TPP", async () => {
    const response = await unchanged(env, () => call(env, tpp, flow.bound, path, options));
    await assertChallenge(response, 403, NOT_A_BANK);
  });
  await t.step("another bank", async () => {
    await assertChallenge(await idleBankCall(env, bankB, path, options), 401, NO_TOKEN_HERE);
  });
  await t.step("the TPP's certificate", async () => {
    await assertChallenge(await idleReport(env, flow, reportFor(flow), { as: tpp }), 401, NO_TOKEN_HERE);
  });
  await t.step("no proof", async () => {
    const response = await idleReport(env, flow, reportFor(flow), { proof: null });
    await assertChallenge(response, 401, 'DPoP error="invalid_dpop_proof", algs="PS256"');
  });
});

test("PUT back-channel-auth: the FAPI headers are optional, malformed ones rejected [RP-N26] [C10]", async ({ env }) => {
  const flow = await toBank(env);
  await good(putReport(env, flow, reportFor(flow)), 200);
  const headers = { "x-fapi-customer-ip-address": "somewhere" };
  const response = await idleReport(env, flow, reportFor(flow), { headers });
  await assertFaults(response, 400, [["Header.Invalid", "x-fapi-customer-ip-address"]]);
  await assertBare(await idleReport(env, flow, reportFor(flow), { headers: { accept: "text/html" } }), 406);
});
