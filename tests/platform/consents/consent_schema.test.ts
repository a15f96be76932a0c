/** The consent request: its members, and several faults at once (contract CF1 to CF22). */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeConsentRequest } from "../../../src/platform/consents/consent_schema.ts";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import { edited, without } from "../http/edited.ts";
import { requestOnWire } from "../http/on_wire.ts";
import { faultsIn, faultsWith } from "./consent_faults.ts";
import { CONTEXT, FULL, MINIMAL } from "testing/bodies.ts";

Deno.test("consent request with the fewest members is taken as it is [CON-01]", () => {
  assertEquals(requestOnWire(decodeConsentRequest(MINIMAL, CONTEXT)), MINIMAL);
});

Deno.test("consent request with every member is taken as it is [CON-02]", () => {
  assertEquals(requestOnWire(decodeConsentRequest(FULL, CONTEXT)), FULL);
});

const REQUIRED = [
  "Data",
  "Data.Initiation",
  "Data.Initiation.InstructedAmount",
  "Data.Initiation.InstructedAmount.Amount",
  "Data.Initiation.InstructedAmount.Currency",
  "Data.Initiation.CreditorAccount",
  "Data.Initiation.CreditorAccount.SchemeName",
  "Data.Initiation.CreditorAccount.Identification",
  "Data.Initiation.CreditorAccount.Name",
  "Data.Initiation.DebtorAccount.SchemeName",
  "Data.Initiation.DebtorAccount.Identification",
  "Data.Authorisation.AuthorisationType",
  "Risk",
  "Risk.DeliveryAddress.TownName",
  "Risk.DeliveryAddress.Country",
];

for (const path of REQUIRED) {
  Deno.test(`consent request without ${path} is rejected as missing there [CON-03..12]`, () => {
    assertEquals(faultsIn(without(FULL, path)), [`Field.Missing ${path}`]);
  });
}

const OPTIONAL = [
  "Data.ReadRefundAccount",
  "Data.Authorisation",
  "Data.Authorisation.CompletionDateTime",
  "Data.Initiation.InstructionIdentification",
  "Data.Initiation.EndToEndIdentification",
  "Data.Initiation.DebtorAccount",
  "Data.Initiation.DebtorAccount.Name",
  "Data.Initiation.DebtorAccount.SecondaryIdentification",
  "Data.Initiation.CreditorAccount.SecondaryIdentification",
  "Data.Initiation.CreditorPostalAddress",
  "Data.Initiation.CreditorPostalAddress.AddressType",
  "Data.Initiation.CreditorPostalAddress.Department",
  "Data.Initiation.CreditorPostalAddress.SubDepartment",
  "Data.Initiation.CreditorPostalAddress.AddressLine",
  "Data.Initiation.CreditorPostalAddress.StreetName",
  "Data.Initiation.CreditorPostalAddress.BuildingNumber",
  "Data.Initiation.CreditorPostalAddress.PostCode",
  "Data.Initiation.CreditorPostalAddress.TownName",
  "Data.Initiation.CreditorPostalAddress.CountrySubDivision",
  "Data.Initiation.CreditorPostalAddress.Country",
  "Data.Initiation.RemittanceInformation",
  "Data.Initiation.RemittanceInformation.Unstructured",
  "Data.Initiation.RemittanceInformation.Reference",
  "Data.Initiation.SupplementaryData",
  "Data.Initiation.SupplementaryData.DebtorMobileNumber",
  "Data.SCASupportData",
  "Data.SCASupportData.RequestedSCAExemptionType",
  "Data.SCASupportData.AppliedAuthenticationApproach",
  "Data.SCASupportData.ReferencePaymentOrderId",
  "Risk.PaymentContextCode",
  "Risk.MerchantCategoryCode",
  "Risk.MerchantCustomerIdentification",
  "Risk.DeliveryAddress",
  "Risk.DeliveryAddress.AddressLine",
  "Risk.DeliveryAddress.StreetName",
  "Risk.DeliveryAddress.BuildingNumber",
  "Risk.DeliveryAddress.PostCode",
  "Risk.DeliveryAddress.CountrySubDivision",
];

Deno.test("consent request may lack each optional member [CON-02]", () => {
  for (const path of OPTIONAL) assertEquals(faultsIn(without(FULL, path)), [], path);
});

Deno.test("consent request with a wrong type anywhere is rejected there [CON-14]", () => {
  for (const path of [...REQUIRED, ...OPTIONAL]) {
    assertEquals(faultsWith(path, 5), [`Field.Invalid ${path}`], path);
    assertEquals(faultsWith(path, true), [`Field.Invalid ${path}`], path);
  }
});

Deno.test("consent request with two faults is rejected with both [CON-13]", () => {
  const body = edited(
    without(FULL, "Data.Initiation.CreditorAccount.Name"),
    "Risk.MerchantCategoryCode",
    "zzzz",
  );
  assertEquals(faultsIn(body), [
    "Field.Missing Data.Initiation.CreditorAccount.Name",
    "Field.Invalid Risk.MerchantCategoryCode",
  ]);
});

Deno.test("consent request is rejected for field, format, currency, date and scheme at once [CON-13]", () => {
  const faulty = [
    ["Data.Authorisation.CompletionDateTime", "2026-05-31T12:00:00Z"],
    ["Data.Initiation.InstructedAmount.Amount", "10"],
    ["Data.Initiation.InstructedAmount.Currency", "USD"],
    ["Data.Initiation.CreditorAccount.Identification", "1128"],
    ["Data.Initiation.DebtorAccount.SchemeName", "UK.OBIE.Euro"],
    ["Data.Extra", 1],
  ].reduce<unknown>((body, [path, value]) => edited(body, String(path), value), FULL);
  assertEquals(faultsIn(faulty), [
    "Field.InvalidDate Data.Authorisation.CompletionDateTime",
    "Field.Unexpected Data.Extra",
    "Unsupported.AccountIdentifier Data.Initiation.CreditorAccount.Identification",
    "Unsupported.Scheme Data.Initiation.DebtorAccount.SchemeName",
    "Field.Invalid Data.Initiation.InstructedAmount.Amount",
    "Unsupported.Currency Data.Initiation.InstructedAmount.Currency",
  ]);
});

Deno.test("consent request with an unknown member at any level is rejected there [CON-20]", () => {
  const objects = [
    "",
    "Data.",
    "Data.Authorisation.",
    "Data.Initiation.",
    "Data.Initiation.InstructedAmount.",
    "Data.Initiation.CreditorAccount.",
    "Data.Initiation.DebtorAccount.",
    "Data.Initiation.CreditorPostalAddress.",
    "Data.Initiation.RemittanceInformation.",
    "Data.Initiation.SupplementaryData.",
    "Data.SCASupportData.",
    "Risk.",
    "Risk.DeliveryAddress.",
  ];
  for (const object of objects) {
    assertEquals(faultsWith(`${object}Extra`, "x"), [`Field.Unexpected ${object}Extra`]);
    assertEquals(faultsWith(`${object}Extra`, null), [`Field.Unexpected ${object}Extra`]);
  }
  assertEquals(faultsWith("Data.Initiation.LocalInstrument", "UK.OBIE.FPS"), [
    "Field.Unexpected Data.Initiation.LocalInstrument",
  ]);
});

Deno.test("consent request with null in place of any value is rejected there [CON-20]", () => {
  const ids = ["Data.Initiation.InstructionIdentification", "Data.Initiation.EndToEndIdentification"];
  for (const path of [...REQUIRED, ...OPTIONAL].filter((path) => !ids.includes(path))) {
    assertEquals(faultsWith(path, null), [`Field.Invalid ${path}`], path);
  }
  assertEquals(faultsWith("Data.Initiation.CreditorPostalAddress.AddressLine[0]", null), [
    "Field.Invalid Data.Initiation.CreditorPostalAddress.AddressLine[0]",
  ]);
});

Deno.test("consent request with null identifications is one without them [CON-20]", () => {
  const body = edited(MINIMAL, "Data.Initiation.InstructionIdentification", null);
  const request = decodeConsentRequest(edited(body, "Data.Initiation.EndToEndIdentification", null), CONTEXT);
  assertEquals(requestOnWire(request), MINIMAL);
});

Deno.test("consent request that pays the payer is rejected [CF12]", () => {
  const payee = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };
  const body = (payer: unknown): unknown => edited(MINIMAL, "Data.Initiation.DebtorAccount", payer);
  assertEquals(faultsIn(body(payee)), ["Field.Invalid Data.Initiation.DebtorAccount"]);
  assertEquals(faultsIn(body({ ...payee, SchemeName: "IBAN" })), [
    "Field.Invalid Data.Initiation.DebtorAccount",
  ]);
  assertEquals(faultsIn(body({ ...payee, Identification: "GB29NWBK60161331926819" })), []);
});

Deno.test("consent request of any JSON is taken or rejected, never worse [CON-20]", () => {
  const paths = fc.constantFrom(...REQUIRED, ...OPTIONAL);
  fc.assert(
    fc.property(paths, fc.json({ maxDepth: 3 }), (path, json) => {
      try {
        decodeConsentRequest(edited(FULL, path, JSON.parse(json)), CONTEXT);
      } catch (error) {
        assertEquals(error instanceof ApiError, true);
      }
    }),
    { numRuns: 500 },
  );
});
