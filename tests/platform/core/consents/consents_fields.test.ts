/** POST domestic-payment-consents: the values that fields may take (contract CF4 to CF22). */
import { assertEquals } from "@std/assert";
import { call, clientToken } from "testing/flows.ts";
import { FULL_CONSENT } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { openEnvironment } from "testing/environment.ts";
import { without } from "../../guards/http/edited.ts";
import { OPTIONAL, REQUIRED } from "./consent_members.ts";
import { CREDITOR, DEBTOR, type FieldRule, judgeFields } from "./field_rules.ts";

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
    rejects: [
      "",
      "x".repeat(max + 1),
      "𝔘".repeat(max + 1),
      "line\nbreak",
      "a\u007fb",
      "\u0000",
      "a\ufffeb",
      "\u{10ffff}",
    ],
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
