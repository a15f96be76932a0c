/** The account that pays, as an order names it. */
import { assertEquals } from "@std/assert";
import { putReport, reportFor } from "testing/back_channel.ts";
import { consentBody, good } from "testing/flows.ts";
import { returnPath, toBank } from "testing/authorization_flow.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { debtorOf } from "./debtor.ts";

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
