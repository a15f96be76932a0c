/** POST domestic-payment-consents: amounts, currencies, accounts and dates (contract CF4 to CF22). */
import { CONTEXT, MINIMAL } from "testing/bodies.ts";
import { initiationFaults } from "../../../../src/platform/core/consents/initiation_schema.ts";
import { assertEquals } from "@std/assert";
import { call, clientToken } from "testing/flows.ts";
import { assertFaults, unchanged } from "testing/resource_answers.ts";
import { FULL_CONSENT } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { edited } from "../../guards/http/edited.ts";
import { CREDITOR, DEBTOR, judgeFields } from "./field_rules.ts";

Deno.test("POST domestic-payment-consents takes positive amounts of two fraction digits only [CON-16] [RP-N23]", (t) =>
  judgeFields(t, [{
    path: "Data.Initiation.InstructedAmount.Amount",
    takes: ["0.01", "10.00", "1234567890123.00", "1234567890123.99"],
    rejects: [
      ...[
        "10",
        "10.5",
        "10.555",
        "1.000",
        "-1.00",
        "+1.00",
        "0.00",
        "01.00",
        ".50",
        "1e2",
        "1,00",
        "1 000.00",
      ],
      ...["12345678901234.00", "１.００", "1.00\n", " 1.00", "NaN", "", 10, 10.5],
    ],
  }]));

Deno.test("POST domestic-payment-consents takes supported currencies only [CON-17]", async (t) => {
  const path = "Data.Initiation.InstructedAmount.Currency";
  await judgeFields(t, [
    {
      path,
      takes: ["EUR", "COP", "GBP", "USD"],
      rejects: ["gbp", "ZZZ", "XXX", "XTS", "EU", "EURO", "", "XXX9"],
    },
    { path, rejects: ["CHF", "JPY"], code: "Unsupported.Currency" },
  ]);
});

Deno.test("POST domestic-payment-consents takes known schemes, and identifications that fit them, only [CON-18]", async (t) => {
  const identifications = [
    ["UK.OBIE.IBAN", "GB34BUKB20201555555555"],
    ["IBAN", "GB33 BUKB 2020 1555 5555 55"],
    ["UK.OBIE.SortCodeAccountNumber", "1128000123456"],
    ["UK.OBIE.BBAN", "a-b"],
    ["UK.OBIE.Paym", "mobile"],
  ].map(([SchemeName, Identification]) => ({ SchemeName, Identification, Name: "n" }));
  const schemes = [
    "UK.OBIE.Euro",
    "UK.OBIE.iban",
    "iban",
    "PAN",
    "",
    "zzzz",
    "UK.OBIE.PAN",
    "ZZ.A.B",
    "x".repeat(41),
  ];
  const code = "Unsupported.AccountIdentifier";
  await judgeFields(t, [
    ...[CREDITOR, DEBTOR].flatMap((path) => [
      { path: `${path}.SchemeName`, rejects: schemes, code: "Unsupported.Scheme" },
      { path, rejects: identifications, code, at: `${path}.Identification` },
    ]),
    {
      path: `${DEBTOR}.Identification`,
      takes: ["GB29NWBK60161331926819"],
      rejects: ["GB29NWBK60161331926818", "gb29nwbk60161331926819", "GB29 NWBK 6016 1331 9268 19", "GB29"],
      code,
    },
    {
      path: `${CREDITOR}.Identification`,
      takes: ["11280001234567"],
      rejects: ["1128000123456", "11280001234567 ", "1128-0001234567"],
      code,
    },
  ]);
});

Deno.test("POST domestic-payment-consents takes 256 characters of an identification, 40 of a scheme's name, and none that is empty [CON-15]", async (t) => {
  const scheme = (length: number): string => "CO.Banco.Llave".padEnd(length, "e");
  const ACCOUNT_SCHEMES = `UK.OBIE.IBAN,UK.OBIE.Wallet,${scheme(40)}=alphanumeric:1-34`;
  await using env = await openEnvironment({ environment: { PLATFORM_ACCOUNT_SCHEMES: ACCOUNT_SCHEMES } });
  const bound = await clientToken(env, env.tpp);
  const post = (SchemeName: string, Identification: string): Promise<Response> => {
    const body = JSON.stringify(edited(FULL_CONSENT, CREDITOR, { SchemeName, Identification, Name: "n" }));
    return call(env, env.tpp, bound, CONSENTS, { body });
  };
  await t.step("the longest", async () => {
    for (const [name, length] of [["UK.OBIE.Wallet", 256], [scheme(40), 34]] as const) {
      const response = await post(name, "x".repeat(length));
      assertEquals(response.status, 201, await response.text());
    }
  });
  const number = ["Unsupported.AccountIdentifier", `${CREDITOR}.Identification`] as const;
  const cases: Readonly<Record<string, readonly [string, string, readonly [string, string]]>> = {
    "an identification of 257": ["UK.OBIE.Wallet", "x".repeat(257), number],
    "one longer than its scheme says": [scheme(40), "x".repeat(35), number],
    "a tab in it": ["UK.OBIE.Wallet", "a\tb", number],
    "an empty identification of a wallet": ["UK.OBIE.Wallet", "", number],
    "an empty identification": [scheme(40), "", number],
    "a scheme of 41": [scheme(41), "x", ["Unsupported.Scheme", `${CREDITOR}.SchemeName`]],
    "an empty scheme": ["", "x", ["Unsupported.Scheme", `${CREDITOR}.SchemeName`]],
  };
  await steps(t, cases, async ([schemeName, identification, fault]) => {
    const response = await unchanged(env, () => post(schemeName, identification));
    await assertFaults(response, 400, [fault]);
  });
});

Deno.test("POST domestic-payment-consents takes a future CompletionDateTime in any ISO form [CON-19]", (t) =>
  judgeFields(t, [{
    path: "Data.Authorisation.CompletionDateTime",
    takes: [
      "2040-01-15T12:00:00.001Z",
      "2040-01-15T12:01Z",
      "2040-01-15T13:00:01+01:00",
      "2040-01-15T07:00:01-0500",
      "20400115T120001Z",
      "2040-W03-1T12:00:00Z",
      "2040-016T00:00:00,5+00",
      "2041-01-01T00Z",
      "9999-12-31T23:59:59Z",
    ],
    rejects: [
      "2040-01-15T12:00:00Z",
      "2040-01-15T11:59:59Z",
      "2040-01-15T13:00:00+01:00",
      "2039-12-31T00:00:00Z",
      "2041-01-15",
      "2041-01-15T12:00:00",
      "2041-02-30T12:00:00Z",
      "tomorrow",
      "",
    ],
    code: "Field.InvalidDate",
  }]));

Deno.test("POST domestic-payment-consents takes whole amounts alone in a currency without a minor unit [CF23]", () => {
  const context = { ...CONTEXT, currencies: ["EUR", "JPY"] };
  const faults = (Amount: string, Currency: string): readonly string[] =>
    initiationFaults(edited(MINIMAL, "Data.Initiation.InstructedAmount", { Amount, Currency }), context)
      .map(({ code, path }) => `${code} ${path}`);
  assertEquals(faults("100.00", "JPY"), []);
  for (const amount of ["100.50", "0.01", "100.10"]) {
    assertEquals(faults(amount, "JPY"), ["Field.Invalid Data.Initiation.InstructedAmount.Amount"], amount);
    assertEquals(faults(amount, "EUR"), []);
  }
});
