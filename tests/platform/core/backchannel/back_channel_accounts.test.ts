/** `PUT back-channel-auth/{ConsentId}`: the payer's accounts as a bank reports them (contract EP12; Decision C11). */
import { assertEquals } from "@std/assert";
import { ACCOUNTS, idleReport, putReport, reportFor } from "testing/back_channel.ts";
import { consentBody, DEBTOR_ACCOUNT, good } from "testing/flows.ts";
import { returnPath, toBank } from "testing/authorization_flow.ts";
import { assertCommonHeaders, assertFaults } from "testing/resource_answers.ts";
import { openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { debtorOf } from "./debtor.ts";

Deno.test("PUT back-channel-auth takes a list for the platform's screen and echoes it [BCH-03]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const response = await putReport(env, flow, reportFor(flow));
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  assertCommonHeaders(response);
  assertEquals(await response.json(), {
    Data: { BankId: "BANKA", ConsentId: flow.consentId, Sub: "customer-1", DebtorAccount: ACCOUNTS },
  });
});

Deno.test("PUT back-channel-auth takes accounts with their least and their most [BCH-03] [FUN-02]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const lists = {
    "scheme and identification alone": [{ ...DEBTOR_ACCOUNT }],
    "every member, a negative balance": [{
      SchemeName: "UK.OBIE.SortCodeAccountNumber",
      Identification: "20201555555555",
      Balance: "-20.12345",
      Currency: "GBP",
      SecondaryIdentification: "ROLL-7",
    }],
    "balances of any sign and precision, in any currency in use": ["-12.50", "0", "9999999999999.99999"]
      .map((Balance, n) => ({
        ...DEBTOR_ACCOUNT,
        Balance,
        Currency: "JPY",
        SecondaryIdentification: `SUB-${n}`,
      })),
    "100 accounts": Array.from({ length: 100 }, (_, n) => ({
      SchemeName: "UK.OBIE.SortCodeAccountNumber",
      Identification: `1128000${String(n).padStart(7, "0")}`,
    })),
  };
  await steps(t, lists, async (DebtorAccount) => {
    const answer = await good(putReport(env, flow, reportFor(flow, { DebtorAccount })), 200);
    assertEquals(answer.Data.DebtorAccount, DebtorAccount);
  });
  await t.step("a Sub of 70 characters, the consent's UUID in capitals", async () => {
    const changes = { Sub: "s".repeat(70), ConsentId: flow.consentId.toUpperCase() };
    const answer = await good(putReport(env, flow, reportFor(flow, changes)), 200);
    assertEquals([answer.Data.Sub, answer.Data.ConsentId], [changes.Sub, changes.ConsentId]);
  });
});

Deno.test("PUT back-channel-auth takes exactly one account for the bank's own screen [BCH-03]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { bank: env.bankB });
  await assertFaults(await idleReport(env, flow, reportFor(flow)), 400, [[
    "Field.Invalid",
    "Data.DebtorAccount",
  ]]);
  const [, chosen] = ACCOUNTS;
  await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [chosen] })), 200);
  const redirect = await flow.browser.open(await returnPath(env, env.bankB, flow.handover));
  assertEquals((await debtorOf(env, flow, redirect)).Identification, chosen?.Identification);
});

Deno.test("PUT back-channel-auth takes nothing for an implicit consent [BCH-03]", async () => {
  await using env = await openEnvironment();
  const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  for (const bank of [env.bankA, env.bankB]) {
    const flow = await toBank(env, { bank, body });
    const response = await idleReport(env, flow, reportFor(flow, { DebtorAccount: [DEBTOR_ACCOUNT] }));
    await assertFaults(response, 400, [["Field.Unexpected", "Data.DebtorAccount"]]);
  }
});

Deno.test("PUT back-channel-auth takes one account for each currency of a multi-currency account [BF7]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const of = (Currency?: string, more = {}) => ({
    ...DEBTOR_ACCOUNT,
    ...more,
    ...(Currency && { Currency }),
  });
  const taken = {
    "one currency each": [of("EUR"), of("USD"), of("GBP")],
    "the consent's currency, absent": [of(), of("USD")],
    "one currency, other secondary numbers": [of("EUR"), of("EUR", { SecondaryIdentification: "SUB-1" })],
  };
  await steps(t, taken, async (DebtorAccount) => {
    await good(putReport(env, flow, reportFor(flow, { DebtorAccount })), 200);
  });
  const repeated = {
    "a currency twice": [of("USD"), of("USD")],
    "the consent's currency, absent and named": [of(), of("EUR")],
    "the consent's currency, named and absent": [of("EUR"), of()],
    "another balance": [of("USD"), of("USD", { Balance: "1.00" })],
  };
  await steps(t, repeated, async (DebtorAccount) => {
    const response = await idleReport(env, flow, reportFor(flow, { DebtorAccount }));
    await assertFaults(response, 400, [["Field.Invalid", "Data.DebtorAccount[1]"]]);
  });
});
