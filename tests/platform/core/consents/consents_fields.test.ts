/** POST domestic-payment-consents: the values that fields may take, each judged over HTTP (contract CF4 to CF22). */
import { assertEquals } from "@std/assert";
import { call, clientToken } from "testing/flows.ts";
import { CONTEXT, FULL_CONSENT, MINIMAL } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { openEnvironment } from "testing/environment.ts";
import { edited, without } from "../../guards/http/edited.ts";
import { OPTIONAL, REQUIRED } from "./consent_members.ts";
import { initiationFaults } from "../../../../src/platform/core/consents/initiation_schema.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { steps } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";

/** Values of one field: those that are taken, and those that are rejected with a code. */
interface FieldRule {
  readonly path: string;
  readonly takes?: readonly unknown[];
  readonly rejects: readonly unknown[];
  /** `Field.Invalid` unless given. */
  readonly code?: string;
  /** Path of the fault, if it is not the field's own. */
  readonly at?: string;
}

const CREDITOR = "Data.Initiation.CreditorAccount";
const DEBTOR = "Data.Initiation.DebtorAccount";

/** Posts a full consent request with each value. A rejected one changes no state. */
async function judgeFields(t: Deno.TestContext, rules: readonly FieldRule[]): Promise<void> {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  for (const { path, takes = [], rejects, code = "Field.Invalid", at = path } of rules) {
    const post = (value: unknown): Promise<Response> =>
      call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(edited(FULL_CONSENT, path, value)) });
    await t.step(path, async () => {
      for (const value of takes) {
        const response = await post(value);
        assertEquals([value, response.status], [value, 201], await response.text());
      }
      for (const value of rejects) {
        await assertFaults(await unchanged(env, () => post(value)), 400, [[code, at]]);
      }
    });
  }
}

const POSTAL = "Data.Initiation.CreditorPostalAddress";
const DELIVERY = "Risk.DeliveryAddress";
const ADDRESS_TYPES = "Business Correspondence DeliveryTo MailTo POBox Postal Residential Statement";
const EXEMPTIONS =
  "BillPayment ContactlessTravel EcommerceGoods EcommerceServices Kiosk Parking PartyToParty";
/** Of OBIE 3.1.4 to 3.1.9, then of 3.1.10 on. */
const CONTEXTS = [
  ..."BillPayment EcommerceGoods EcommerceServices Other PartyToParty".split(" "),
  ..."BillingGoodsAndServicesInAdvance BillingGoodsAndServicesInArrears PispPayee".split(" "),
  ..."EcommerceMerchantInitiatedPayment FaceToFacePointOfSale TransferToSelf TransferToThirdParty".split(" "),
];
const ENUMERATIONS: readonly FieldRule[] = [
  { path: "Data.ReadRefundAccount", takes: ["Yes", "No"], rejects: ["yes", "Y", "", true, "true"] },
  {
    path: "Data.Authorisation.AuthorisationType",
    takes: ["Any", "Single"],
    rejects: ["Multiple", "any", ""],
  },
  { path: `${POSTAL}.AddressType`, takes: ADDRESS_TYPES.split(" "), rejects: ["Home", "BIZZ", ""] },
  { path: `${POSTAL}.Country`, takes: ["CO", "UK", "GB", "XK"], rejects: ["co", "gb", "ZZ", "GBR", "G", ""] },
  {
    path: `${DELIVERY}.Country`,
    takes: ["CO", "UK", "GB", "XK"],
    rejects: ["gb", "XX", "ZZ", "GBR", "G", ""],
  },
  {
    path: "Data.SCASupportData.RequestedSCAExemptionType",
    takes: EXEMPTIONS.split(" "),
    rejects: ["Payment", "Other", "parking", ""],
  },
  {
    path: "Data.SCASupportData.AppliedAuthenticationApproach",
    takes: ["CA", "SCA"],
    rejects: ["NONE", "None", "sca", ""],
  },
  { path: "Risk.PaymentContextCode", takes: CONTEXTS, rejects: ["Ecommerce", "other", ""] },
  { path: "Risk.MerchantCategoryCode", takes: ["573", "5732"], rejects: ["57", "57321", "zzzz", 5732, ""] },
  {
    path: "Data.Initiation.SupplementaryData.DebtorMobileNumber",
    takes: ["+447700900123", "07700900123", "3001234567", "+44-7700-900123", "+57 601 555"],
    rejects: ["", "0".repeat(36), "line\nbreak"],
  },
];

Deno.test("POST domestic-payment-consents takes the listed values of an enumeration, all of them and no others [CON-14]", (t) =>
  judgeFields(t, ENUMERATIONS));

/** TextN fields: taken at 1 and N code points (of two UTF-16 units each), rejected empty and at N + 1. */
const TEXTS: readonly (readonly [path: string, max: number, code?: string])[] = [
  ["Data.Initiation.InstructionIdentification", 35],
  ["Data.Initiation.EndToEndIdentification", 35],
  [`${CREDITOR}.Name`, 350],
  [`${DEBTOR}.Name`, 350],
  [`${CREDITOR}.SecondaryIdentification`, 34, "Unsupported.AccountSecondaryIdentifier"],
  [`${DEBTOR}.SecondaryIdentification`, 34, "Unsupported.AccountSecondaryIdentifier"],
  [`${POSTAL}.Department`, 70],
  [`${POSTAL}.SubDepartment`, 70],
  [`${POSTAL}.StreetName`, 70],
  [`${POSTAL}.BuildingNumber`, 16],
  [`${POSTAL}.PostCode`, 16],
  [`${POSTAL}.TownName`, 35],
  [`${POSTAL}.CountrySubDivision`, 35],
  [`${POSTAL}.AddressLine[0]`, 70],
  [`${POSTAL}.AddressLine[1]`, 70],
  ["Data.Initiation.RemittanceInformation.Unstructured", 140],
  ["Data.Initiation.RemittanceInformation.Reference", 35],
  ["Data.SCASupportData.ReferencePaymentOrderId", 40],
  ["Risk.MerchantCustomerIdentification", 70],
  [`${DELIVERY}.AddressLine[0]`, 70],
  [`${DELIVERY}.StreetName`, 70],
  [`${DELIVERY}.BuildingNumber`, 16],
  [`${DELIVERY}.PostCode`, 16],
  [`${DELIVERY}.TownName`, 35],
  [`${DELIVERY}.CountrySubDivision`, 35],
];

Deno.test("POST domestic-payment-consents takes texts up to their length in code points, and none that is empty [CON-15]", async (t) => {
  const rules = TEXTS.map(([path, max, code = "Field.Invalid"]): FieldRule => ({
    path,
    takes: ["x", "x".repeat(max), "𝔘".repeat(max)],
    rejects: ["", "x".repeat(max + 1), "𝔘".repeat(max + 1), "line\nbreak", "a\ufffeb"],
    code,
  }));
  await judgeFields(t, rules);
});

Deno.test("POST domestic-payment-consents takes seven lines of a postal address and two of a delivery address [CON-21]", (t) =>
  judgeFields(t, [
    { path: `${POSTAL}.AddressLine`, takes: [lines(7), []], rejects: [lines(8), "line"] },
    { path: `${DELIVERY}.AddressLine`, takes: [lines(2), []], rejects: [lines(3), "line"] },
  ]));

Deno.test("POST domestic-payment-consents takes a request without any one of its optional members [CON-02]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  for (const path of OPTIONAL) {
    const response = await call(env, env.tpp, bound, CONSENTS, {
      body: JSON.stringify(without(FULL_CONSENT, path)),
    });
    assertEquals(response.status, 201, path);
  }
});

Deno.test("POST domestic-payment-consents rejects null and values of a wrong type in place of any member [CON-14] [CON-20]", async (t) => {
  const ids = ["Data.Initiation.InstructionIdentification", "Data.Initiation.EndToEndIdentification"];
  const rules = [...REQUIRED, ...OPTIONAL, `${POSTAL}.AddressLine[0]`].map((path): FieldRule => ({
    path,
    rejects: ids.includes(path) ? [5, true] : [5, true, null],
  }));
  await judgeFields(t, rules);
});

Deno.test("POST domestic-payment-consents rejects an unknown member at any level [CON-20]", async (t) => {
  const objects = [
    ...new Set([...REQUIRED, ...OPTIONAL].map((path) => path.split(".").slice(0, -1).join("."))),
  ];
  const unknown = objects.map((path) => path === "" ? "Extra" : `${path}.Extra`);
  assertEquals(unknown.length, 13);
  const known = ["Data.Initiation.LocalInstrument", "Risk.ContractPresentIndicator"]; // to OBIE
  await judgeFields(
    t,
    [...unknown, ...known].map((path) => ({ path, rejects: ["x", null], code: "Field.Unexpected" })),
  );
});

function lines(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `line ${i + 1}`);
}

Deno.test("POST domestic-payment-consents takes positive amounts of two fraction digits only [CON-16] [RP-N23]", (t) =>
  judgeFields(t, [{
    path: "Data.Initiation.InstructedAmount.Amount",
    takes: ["0.01", "1234567890123.99"], // other forms: tests/base/values/money.test.ts
    rejects: ["10", "10.5", "0.00", "12345678901234.00", "1.00\n", "", 10, 10.5],
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
    // other forms: tests/base/kernel/date_time.test.ts
    takes: ["2040-01-15T12:00:00.001Z", "2040-01-15T13:00:01+01:00", "2040-W03-1T12:00:00Z"],
    rejects: ["2040-01-15T12:00:00Z", "2040-01-15T13:00:00+01:00", "2039-12-31T00:00:00Z", "2041-01-15", ""],
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
