/** POST domestic-payment-consents: the values that fields may take (contract CF4 to CF22). */
import { assertEquals } from "@std/assert";
import { type BoundToken, call, clientToken, type Json } from "testing/flows.ts";
import { assertFaults, unchanged } from "testing/resource_answers.ts";
import { FULL_CONSENT } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { edited } from "../http/edited.ts";
import { steps } from "support/steps.ts";

/** Values of one field: those that are taken, and those that are rejected with a code. */
interface FieldRule {
  readonly path: string;
  readonly takes: readonly Json[];
  readonly rejects: readonly Json[];
  /** `Field.Invalid` unless given. */
  readonly code?: string;
}

function fieldRules(name: string, rules: readonly FieldRule[]): void {
  Deno.test(`POST domestic-payment-consents ${name}`, async (t) => {
    await using env = await openEnvironment();
    const bound = await clientToken(env, env.tpp);
    for (const rule of rules) await t.step(rule.path, () => judge(env, bound, rule));
  });
}

async function judge(env: Environment, bound: BoundToken, rule: FieldRule): Promise<void> {
  const post = (value: Json): Promise<Response> => {
    const body = JSON.stringify(edited(FULL_CONSENT, rule.path, value));
    return call(env, env.tpp, bound, CONSENTS, { body });
  };
  for (const value of rule.takes) {
    const response = await post(value);
    assertEquals([value, response.status], [value, 201], await response.text());
  }
  for (const value of rule.rejects) {
    const response = await unchanged(env, () => post(value));
    await assertFaults(response, 400, [[rule.code ?? "Field.Invalid", rule.path]]);
  }
}

const CREDITOR = "Data.Initiation.CreditorAccount";
const DEBTOR = "Data.Initiation.DebtorAccount";
const POSTAL = "Data.Initiation.CreditorPostalAddress";
const DELIVERY = "Risk.DeliveryAddress";

const ADDRESS_TYPES = "Business Correspondence DeliveryTo MailTo POBox Postal Residential Statement".split(
  " ",
);
const EXEMPTIONS = "BillPayment ContactlessTravel EcommerceGoods EcommerceServices Kiosk Parking PartyToParty"
  .split(" ");
/** Of OBIE 3.1.4 to 3.1.9, then of 3.1.10 on. */
const CONTEXTS = [
  ..."BillPayment EcommerceGoods EcommerceServices Other PartyToParty".split(" "),
  ..."BillingGoodsAndServicesInAdvance BillingGoodsAndServicesInArrears PispPayee".split(" "),
  ..."EcommerceMerchantInitiatedPayment FaceToFacePointOfSale TransferToSelf TransferToThirdParty".split(" "),
];

fieldRules("takes the listed values of an enumeration, all of them and no others [CON-14]", [
  { path: "Data.ReadRefundAccount", takes: ["Yes", "No"], rejects: ["yes", "", true] },
  { path: "Data.Authorisation.AuthorisationType", takes: ["Any", "Single"], rejects: ["Multiple", "any"] },
  { path: `${POSTAL}.AddressType`, takes: ADDRESS_TYPES, rejects: ["Home", "BIZZ"] },
  { path: `${POSTAL}.Country`, takes: ["CO", "UK"], rejects: ["co", "ZZ", "GBR"] },
  { path: `${DELIVERY}.Country`, takes: ["GB"], rejects: ["gb", "XX", ""] },
  { path: "Data.SCASupportData.RequestedSCAExemptionType", takes: EXEMPTIONS, rejects: ["Payment", ""] },
  {
    path: "Data.SCASupportData.AppliedAuthenticationApproach",
    takes: ["CA", "SCA"],
    rejects: ["NONE", "sca"],
  },
  { path: "Risk.PaymentContextCode", takes: CONTEXTS, rejects: ["Ecommerce", "other"] },
  { path: "Risk.MerchantCategoryCode", takes: ["573", "5732"], rejects: ["57", "57321", "zzzz", 5732] },
  {
    path: "Data.Initiation.SupplementaryData.DebtorMobileNumber",
    takes: ["+447700900123", "3001234567", "+44-7700-900123"],
    rejects: ["123456", "+44 7700 900123", "phone"],
  },
]);

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

fieldRules(
  "takes texts up to their length in code points, and none that is empty [CON-15]",
  TEXTS.map(([path, max, code]) => ({
    path,
    takes: ["x", "𝔘".repeat(max)],
    rejects: ["", "x".repeat(max + 1), "𝔘".repeat(max + 1), "line\nbreak"],
    ...(code === undefined ? {} : { code }),
  })),
);

Deno.test("POST domestic-payment-consents takes 256 characters of an identification, 40 of a scheme's name, and none that is empty [CON-15]", async (t) => {
  const scheme = (length: number): string => "CO.Banco.Llave".padEnd(length, "e");
  const ACCOUNT_SCHEMES = `UK.OBIE.IBAN,UK.OBIE.Wallet,${scheme(40)}=alphanumeric:1-34`;
  await using env = await openEnvironment({ environment: { ACCOUNT_SCHEMES } });
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
    "an empty identification": [scheme(40), "", number],
    "a scheme of 41": [scheme(41), "x", ["Unsupported.Scheme", `${CREDITOR}.SchemeName`]],
    "an empty scheme": ["", "x", ["Unsupported.Scheme", `${CREDITOR}.SchemeName`]],
  };
  await steps(t, cases, async ([schemeName, identification, fault]) => {
    const response = await unchanged(env, () => post(schemeName, identification));
    await assertFaults(response, 400, [fault]);
  });
});

fieldRules("takes positive amounts of two fraction digits only [CON-16] [RP-N23]", [{
  path: "Data.Initiation.InstructedAmount.Amount",
  takes: ["0.01", "10.00", "1234567890123.99"],
  rejects: [
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
    "12345678901234.00",
    "１.００",
    "1.00\n",
    " 1.00",
    "NaN",
    "",
    10,
    1.5,
  ],
}]);

fieldRules("takes supported currencies only [CON-17]", [
  {
    path: "Data.Initiation.InstructedAmount.Currency",
    takes: ["EUR", "COP", "GBP", "USD"],
    rejects: ["gbp", "ZZZ", "EURO", "", "XXX9"],
  },
  {
    path: "Data.Initiation.InstructedAmount.Currency",
    takes: [],
    rejects: ["CHF", "JPY"],
    code: "Unsupported.Currency",
  },
]);

fieldRules("takes known schemes, and identifications that fit them, only [CON-18]", [
  {
    path: `${CREDITOR}.SchemeName`,
    takes: [],
    rejects: ["UK.OBIE.Euro", "iban", "", "ZZ.A.B"],
    code: "Unsupported.Scheme",
  },
  {
    path: `${DEBTOR}.SchemeName`,
    takes: [],
    rejects: ["UK.OBIE.Euro", "UK.OBIE.iban"],
    code: "Unsupported.Scheme",
  },
  {
    path: `${DEBTOR}.Identification`,
    takes: ["GB29NWBK60161331926819"],
    rejects: ["GB29NWBK60161331926818", "gb29nwbk60161331926819", "GB29 NWBK 6016 1331 9268 19", "GB29"],
    code: "Unsupported.AccountIdentifier",
  },
  {
    path: `${CREDITOR}.Identification`,
    takes: ["11280001234567"],
    rejects: ["1128000123456", "11280001234567 ", "1128-0001234567"],
    code: "Unsupported.AccountIdentifier",
  },
]);

fieldRules("takes a future CompletionDateTime in any ISO form [CON-19]", [{
  path: "Data.Authorisation.CompletionDateTime",
  takes: [
    "2040-01-15T12:00:00.001Z",
    "2040-01-15T12:01Z",
    "2040-01-15T13:00:01+01:00",
    "2040-01-15T07:00:01-0500",
    "20400115T120001Z",
    "2040-W03-1T12:00:00Z",
    "2040-016T00:00:00,5+00",
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
}]);

fieldRules("takes seven lines of a postal address and two of a delivery address [CON-21]", [
  { path: `${POSTAL}.AddressLine`, takes: [lines(7), []], rejects: [lines(8), "line"] },
  { path: `${DELIVERY}.AddressLine`, takes: [lines(2), []], rejects: [lines(3), "line"] },
]);

fieldRules(
  "rejects null in place of a value [CON-20]",
  [
    "Data",
    "Data.Initiation",
    "Data.Initiation.InstructedAmount.Amount",
    `${CREDITOR}.SecondaryIdentification`,
    DEBTOR,
    "Data.Authorisation",
    "Data.SCASupportData",
    "Risk",
    "Risk.PaymentContextCode",
  ].map((path) => ({ path, takes: [], rejects: [null] })),
);

fieldRules(
  "rejects an unknown member at any level [CON-20]",
  [
    "extra",
    "Data.extra",
    "Data.Authorisation.extra",
    "Data.Initiation.LocalInstrument",
    "Data.Initiation.InstructedAmount.extra",
    `${CREDITOR}.extra`,
    `${DEBTOR}.extra`,
    `${POSTAL}.extra`,
    "Data.Initiation.RemittanceInformation.extra",
    "Data.Initiation.SupplementaryData.extra",
    "Data.SCASupportData.extra",
    "Risk.ContractPresentIndicator",
    `${DELIVERY}.extra`,
  ].map((path) => ({ path, takes: [], rejects: ["x"], code: "Field.Unexpected" })),
);

function lines(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `line ${i + 1}`);
}
