/**
 * `PUT back-channel-auth/{ConsentId}`: the payer's accounts as a bank reports them (contract EP12; Decision C11). The
 * account that pays, as an order names it.
 */
import { assertEquals } from "@std/assert";
import { ACCOUNTS, consentPath, idleReport, putReport, reportFor } from "testing/back_channel.ts";
import { call, clientToken, consentBody, createConsent, DEBTOR_ACCOUNT, good } from "testing/flows.ts";
import {
  type AtBank,
  authorise,
  decide,
  putAccounts,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { assertCommonHeaders, assertFaults } from "testing/resource_answers.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { debtorOf } from "./debtor.ts";
import type { PayerAccounts } from "testing/answers.ts";
import { bodyAt } from "../../../../src/platform/evidence/evidence_store.ts";
import { openGatedStore } from "support/gated_store.ts";
import { readableBody } from "support/readable_body.ts";
import { test } from "support/environment_test.ts";

test("PUT back-channel-auth takes a list for the platform's screen and echoes it [BCH-03]", async ({ env }) => {
  const flow = await toBank(env);
  const response = await putReport(env, flow, reportFor(flow));
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  assertCommonHeaders(response);
  assertEquals(await response.json(), {
    Data: { BankId: "BANKA", ConsentId: flow.consentId, Sub: "customer-1", DebtorAccount: ACCOUNTS },
  });
});

test("PUT back-channel-auth takes accounts with their least and their most [BCH-03] [FUN-02]", async ({ env, t }) => {
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

test("PUT back-channel-auth takes exactly one account for the bank's own screen [BCH-03]", async ({ env }) => {
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

test("PUT back-channel-auth takes nothing for an implicit consent [BCH-03]", async ({ env }) => {
  const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  for (const bank of [env.bankA, env.bankB]) {
    const flow = await toBank(env, { bank, body });
    const response = await idleReport(env, flow, reportFor(flow, { DebtorAccount: [DEBTOR_ACCOUNT] }));
    await assertFaults(response, 400, [["Field.Unexpected", "Data.DebtorAccount"]]);
  }
});

test("PUT back-channel-auth takes one account for each currency of a multi-currency account [BF7]", async ({ env, t }) => {
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

Deno.test("PUT back-channel-auth takes one number of two schemes as two accounts [BF7]", async () => {
  const environment = {
    PLATFORM_ACCOUNT_SCHEMES: "UK.OBIE.IBAN,CO.Redeban.Account=digits:6-20,CO.Redeban.Phone=digits:6-20",
  };
  await using env = await openEnvironment({ environment });
  const flow = await toBank(env);
  const accounts = (...schemes: string[]) => ({
    DebtorAccount: schemes.map((SchemeName) => ({ SchemeName, Identification: "601555123" })),
  });
  await good(putReport(env, flow, reportFor(flow, accounts("CO.Redeban.Account", "CO.Redeban.Phone"))), 200);
  const twice = await idleReport(
    env,
    flow,
    reportFor(flow, accounts("CO.Redeban.Phone", "CO.Redeban.Phone")),
  );
  await assertFaults(twice, 400, [["Field.Invalid", "Data.DebtorAccount[1]"]]);
});

test("PUT back-channel-auth twice: the last report is what the customer chooses from [BCH-04]", async ({ env }) => {
  const flow = await toBank(env);
  const [first, second] = ACCOUNTS;
  await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [first] })), 200);
  await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [second] })), 200);
  const screen = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const location = screen.headers.get("location") ?? "";
  const html = await (await flow.browser.open(location)).text();
  const words = html.replace(/<[^>]*>/g, "");
  assertEquals([words.includes("9268 19"), words.includes("5555 55")], [true, false], words);
  const redirect = await decide(flow.browser, location, "accept", "0");
  assertEquals((await debtorOf(env, flow, redirect)).Identification, second?.Identification);
});

test("PUT back-channel-auth while the customer decides changes nothing of the choice [C11]", async ({ env }) => {
  const flow = await toBank(env);
  const [first, second] = ACCOUNTS;
  await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [first, second] })), 200);
  const screen = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const other = reportFor(flow, { Sub: "customer-2", DebtorAccount: [second, first] });
  await (await putReport(env, flow, other)).body?.cancel();
  const redirect = await decide(flow.browser, screen.headers.get("location") ?? "", "accept", "0");
  assertEquals((await debtorOf(env, flow, redirect)).Identification, first?.Identification);
});

Deno.test("PUT back-channel-auth is rejected unless a customer is at the bank [BCH-04] [RP-N25] [C11]", async (t) => {
  const reject = async (env: Environment, flow: AtBank): Promise<void> => {
    const response = await idleReport(env, flow, reportFor(flow));
    await assertFaults(response, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
  };
  await t.step("the link has not been opened yet", async () => {
    await using env = await openEnvironment();
    const { ConsentId } = (await createConsent(env, await clientToken(env, env.tpp))).Data;
    const flow = await toBank(env);
    await reject(env, { ...flow, consentId: ConsentId });
  });
  await t.step("the flow is over after 900 s", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    env.now = START + 899_999;
    await good(putReport(env, flow, reportFor(flow)), 200);
    env.now = START + 900_000;
    await reject(env, flow);
  });
  await t.step("Authorized", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    assertEquals((await authorise(env, flow)).status, 303);
    await reject(env, flow);
  });
  await t.step("Consumed", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    await debtorOf(env, flow, await authorise(env, flow));
    await reject(env, flow);
  });
  await t.step("Rejected by the bank", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    await flow.browser.open(
      await returnPath(env, env.bankA, flow.handover, { claims: { status_code: "failure" } }),
    );
    await reject(env, flow);
  });
  await t.step("Rejected by its deadline, though the flow is open", async () => {
    await using env = await openEnvironment();
    const Authorisation = { AuthorisationType: "Any", CompletionDateTime: "2040-01-15T12:05:00+00:00" };
    const flow = await toBank(env, { body: consentBody({ data: { Authorisation } }) });
    env.now = START + 300_000;
    await reject(env, flow);
  });
});

Deno.test("PUT back-channel-auth: of parallel reports both are taken, one is the last [BCH-04]", async () => {
  const store = await openGatedStore();
  await using env = await openEnvironment({ store });
  const flow = await toBank(env);
  const bound = await clientToken(env, env.bankA);
  const lists = ACCOUNTS.map((account) => [account]);
  const answers = await store.together(
    lists.map((DebtorAccount) => () =>
      call(env, env.bankA, bound, consentPath(flow.consentId), {
        method: "PUT",
        body: JSON.stringify(reportFor(flow, { DebtorAccount })),
      })
    ),
  );
  assertEquals(answers.map(({ status }) => status), [200, 200]);
  const redirect = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const chosen = await decide(flow.browser, redirect.headers.get("location") ?? "", "accept", "0");
  const { Identification } = await debtorOf(env, flow, chosen);
  assertEquals(ACCOUNTS.some((account) => account.Identification === Identification), true);
});

test("PUT back-channel-auth keeps the signed bytes and the signature as evidence [RP11] [C11]", async ({ env }) => {
  const flow = await toBank(env);
  assertEquals((await putAccounts(env, env.bankA, flow.consentId)).status, 200);
  const evidence = readableBody(await bodyAt(env.store, `${flow.consentId} 4 payer_accounts`));
  const body = JSON.parse(new TextDecoder().decode(evidence?.bytes)) as PayerAccounts;
  assertEquals([body.Data.ConsentId, evidence?.signature?.split(".").length], [flow.consentId, 3]);
});

test("an order names both numbers of the chosen account, and its currency if it is not the payment's [PO6]", async ({ env, t }) => {
  const account = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };
  const second = { ...account, SecondaryIdentification: "SUB-1" };
  const cases = {
    "the payment's currency": [{ ...second, Currency: "EUR" }, second],
    "no currency": [account, account],
    "another currency": [{ ...second, Currency: "USD" }, { ...second, Currency: "USD" }],
  } as const;
  await steps(t, cases, async ([reported, ordered]) => {
    const body = consentBody({ data: { ReadRefundAccount: "Yes" } });
    const flow = await toBank(env, { bank: env.bankB, body });
    await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [reported] })), 200);
    const redirect = await flow.browser.open(await returnPath(env, env.bankB, flow.handover));
    assertEquals(await debtorOf(env, flow, redirect, body), ordered);
  });
});
