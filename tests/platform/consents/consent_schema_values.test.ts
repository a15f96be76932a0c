/** The consent request: the accepted values of each field (contract CF1 to CF22). */
import { assertEquals } from "@std/assert";
import { edited } from "../http/edited.ts";
import { FULL } from "testing/bodies.ts";
import { faultsIn, faultsWith } from "./consent_faults.ts";

const ENUMS: [string, string[], string[]][] = [
  ["Data.ReadRefundAccount", ["Yes", "No"], ["yes", "Y", "", "true"]],
  ["Data.Authorisation.AuthorisationType", ["Any", "Single"], ["Multiple", "any", ""]],
  ["Data.Initiation.CreditorPostalAddress.AddressType", [
    "Business",
    "Correspondence",
    "DeliveryTo",
    "MailTo",
    "POBox",
    "Postal",
    "Residential",
    "Statement",
  ], ["BIZZ", "Home", ""]],
  ["Data.SCASupportData.RequestedSCAExemptionType", [
    "BillPayment",
    "ContactlessTravel",
    "EcommerceGoods",
    "EcommerceServices",
    "Kiosk",
    "Parking",
    "PartyToParty",
  ], ["Other", "parking", ""]],
  ["Data.SCASupportData.AppliedAuthenticationApproach", ["CA", "SCA"], ["sca", "None", ""]],
  ["Risk.PaymentContextCode", [
    "BillPayment",
    "EcommerceGoods",
    "EcommerceServices",
    "Other",
    "PartyToParty",
    "BillingGoodsAndServicesInAdvance",
    "BillingGoodsAndServicesInArrears",
    "PispPayee",
    "EcommerceMerchantInitiatedPayment",
    "FaceToFacePointOfSale",
    "TransferToSelf",
    "TransferToThirdParty",
  ], ["Ecommerce", "other", ""]],
];

for (const [path, right, wrong] of ENUMS) {
  Deno.test(`consent request takes only the listed values of ${path} [CON-14]`, () => {
    for (const value of right) assertEquals(faultsWith(path, value), [], value);
    for (const value of wrong) assertEquals(faultsWith(path, value), [`Field.Invalid ${path}`], value);
  });
}

Deno.test("consent request takes only country codes in use, and UK [CON-14]", () => {
  for (const path of ["Data.Initiation.CreditorPostalAddress.Country", "Risk.DeliveryAddress.Country"]) {
    for (const value of ["GB", "UK", "CO"]) assertEquals(faultsWith(path, value), []);
    for (const value of ["gb", "ZZ", "GBR", "G", ""]) {
      assertEquals(faultsWith(path, value), [`Field.Invalid ${path}`]);
    }
  }
});

const TEXTS: [string, number, string][] = [
  ["Data.Initiation.InstructionIdentification", 35, "Field.Invalid"],
  ["Data.Initiation.EndToEndIdentification", 35, "Field.Invalid"],
  ["Data.Initiation.CreditorAccount.Name", 350, "Field.Invalid"],
  ["Data.Initiation.CreditorAccount.SecondaryIdentification", 34, "Unsupported.AccountSecondaryIdentifier"],
  ["Data.Initiation.DebtorAccount.Name", 350, "Field.Invalid"],
  ["Data.Initiation.DebtorAccount.SecondaryIdentification", 34, "Unsupported.AccountSecondaryIdentifier"],
  ["Data.Initiation.CreditorPostalAddress.Department", 70, "Field.Invalid"],
  ["Data.Initiation.CreditorPostalAddress.SubDepartment", 70, "Field.Invalid"],
  ["Data.Initiation.CreditorPostalAddress.AddressLine[1]", 70, "Field.Invalid"],
  ["Data.Initiation.CreditorPostalAddress.StreetName", 70, "Field.Invalid"],
  ["Data.Initiation.CreditorPostalAddress.BuildingNumber", 16, "Field.Invalid"],
  ["Data.Initiation.CreditorPostalAddress.PostCode", 16, "Field.Invalid"],
  ["Data.Initiation.CreditorPostalAddress.TownName", 35, "Field.Invalid"],
  ["Data.Initiation.CreditorPostalAddress.CountrySubDivision", 35, "Field.Invalid"],
  ["Data.Initiation.RemittanceInformation.Unstructured", 140, "Field.Invalid"],
  ["Data.Initiation.RemittanceInformation.Reference", 35, "Field.Invalid"],
  ["Data.SCASupportData.ReferencePaymentOrderId", 40, "Field.Invalid"],
  ["Risk.MerchantCustomerIdentification", 70, "Field.Invalid"],
  ["Risk.DeliveryAddress.AddressLine[0]", 70, "Field.Invalid"],
  ["Risk.DeliveryAddress.StreetName", 70, "Field.Invalid"],
  ["Risk.DeliveryAddress.BuildingNumber", 16, "Field.Invalid"],
  ["Risk.DeliveryAddress.PostCode", 16, "Field.Invalid"],
  ["Risk.DeliveryAddress.TownName", 35, "Field.Invalid"],
  ["Risk.DeliveryAddress.CountrySubDivision", 35, "Field.Invalid"],
];

for (const [path, max, code] of TEXTS) {
  Deno.test(`consent request takes 1 to ${max} code points of ${path} [CON-15]`, () => {
    for (const value of ["x", "x".repeat(max), "𝔘".repeat(max)]) assertEquals(faultsWith(path, value), []);
    for (const value of ["", "x".repeat(max + 1), "𝔘".repeat(max + 1), "a\nb", "a\u007fb", "\u0000"]) {
      assertEquals(faultsWith(path, value), [`${code} ${path}`], JSON.stringify(value));
    }
  });
}

Deno.test("consent request takes 256 characters of a wallet's identification [CON-15]", () => {
  const path = "Data.Initiation.CreditorAccount.Identification";
  const body = edited(FULL, "Data.Initiation.CreditorAccount.SchemeName", "UK.OBIE.Wallet");
  assertEquals(faultsIn(edited(body, path, "x".repeat(256))), []);
  for (const value of ["x".repeat(257), "", "a\tb"]) {
    assertEquals(faultsIn(edited(body, path, value)), [`Unsupported.AccountIdentifier ${path}`]);
  }
});

Deno.test("consent request takes positive amounts with two fraction digits only [CON-16]", () => {
  const path = "Data.Initiation.InstructedAmount.Amount";
  for (const value of ["0.01", "10.00", "1234567890123.00"]) assertEquals(faultsWith(path, value), []);
  for (
    const value of [
      "10",
      "10.5",
      "10.555",
      "-1.00",
      "0.00",
      "1e2",
      "12345678901234.00",
      "01.00",
      "",
      10,
      10.5,
    ]
  ) assertEquals(faultsWith(path, value), [`Field.Invalid ${path}`], String(value));
});

Deno.test("consent request takes supported currencies only [CON-17]", () => {
  const path = "Data.Initiation.InstructedAmount.Currency";
  for (const value of ["EUR", "COP", "GBP"]) assertEquals(faultsWith(path, value), []);
  for (const value of ["gbp", "ZZZ", "XXX", "XTS", "EU", ""]) {
    assertEquals(faultsWith(path, value), [`Field.Invalid ${path}`], value);
  }
  for (const value of ["USD", "JPY"]) {
    assertEquals(faultsWith(path, value), [`Unsupported.Currency ${path}`], value);
  }
});

for (const account of ["CreditorAccount", "DebtorAccount"]) {
  Deno.test(`consent request with an unknown scheme of ${account} is rejected at its SchemeName [CON-18]`, () => {
    const path = `Data.Initiation.${account}.SchemeName`;
    for (const value of ["UK.OBIE.Euro", "PAN", "", "zzzz", "x".repeat(41)]) {
      assertEquals(faultsWith(path, value), [`Unsupported.Scheme ${path}`], value);
    }
  });

  Deno.test(`consent request with a bad identification of ${account} is rejected at it [CON-18]`, () => {
    const path = `Data.Initiation.${account}`;
    const cases = [
      ["UK.OBIE.IBAN", "GB34BUKB20201555555555"],
      ["IBAN", "GB33 BUKB 2020 1555 5555 55"],
      ["UK.OBIE.SortCodeAccountNumber", "1128000123456"],
      ["UK.OBIE.PAN", "4111111111111112"],
      ["UK.OBIE.BBAN", "a-b"],
      ["UK.OBIE.Paym", "mobile"],
    ];
    for (const [scheme, identification] of cases) {
      const body = edited(
        edited(FULL, `${path}.SchemeName`, scheme),
        `${path}.Identification`,
        identification,
      );
      assertEquals(faultsIn(body), [`Unsupported.AccountIdentifier ${path}.Identification`], scheme);
    }
  });
}

Deno.test("consent request takes a future CompletionDateTime in any ISO form [CON-19]", () => {
  const path = "Data.Authorisation.CompletionDateTime";
  for (
    const value of [
      "2026-06-01T12:00:00.001Z",
      "2026-06-01T13:00Z",
      "2026-06-01T14:00:00+01:00",
      "2026-06-01T09:00:00.5-0500",
      "20260601T130000Z",
      "2026-W23-1T13:00Z",
      "2030-01-01T00Z",
    ]
  ) assertEquals(faultsWith(path, value), [], value);
});

Deno.test("consent request with a CompletionDateTime past, now, without offset or unreadable is rejected [CON-19]", () => {
  const path = "Data.Authorisation.CompletionDateTime";
  for (
    const value of [
      "2026-06-01T12:00:00Z", // now
      "2026-06-01T11:59:59Z",
      "2026-06-01T13:00:00+02:00", // 11:00 UTC
      "2030-01-01T00:00:00",
      "2030-01-01",
      "2030-02-30T00:00:00Z",
      "tomorrow",
      "",
    ]
  ) assertEquals(faultsWith(path, value), [`Field.InvalidDate ${path}`], value);
});

Deno.test("consent request with AddressLine of 7 is taken, of 8 is rejected [CON-21]", () => {
  const path = "Data.Initiation.CreditorPostalAddress.AddressLine";
  for (const lines of [[], Array(7).fill("line")]) assertEquals(faultsWith(path, lines), []);
  assertEquals(faultsWith(path, Array(8).fill("line")), [`Field.Invalid ${path}`]);
  assertEquals(faultsWith(path, "line"), [`Field.Invalid ${path}`]);
});

Deno.test("consent request with delivery AddressLine of 2 is taken, of 3 is rejected [CON-21]", () => {
  const path = "Risk.DeliveryAddress.AddressLine";
  for (const lines of [[], Array(2).fill("line")]) assertEquals(faultsWith(path, lines), []);
  assertEquals(faultsWith(path, Array(3).fill("line")), [`Field.Invalid ${path}`]);
});

Deno.test("consent request takes mobile numbers and merchant category codes of the right form only [CON-14]", () => {
  const mobile = "Data.Initiation.SupplementaryData.DebtorMobileNumber";
  for (const value of ["07700900123", "+447700900123", "+57-3001234567"]) {
    assertEquals(faultsWith(mobile, value), []);
  }
  for (const value of ["", "123456", "+44 7700 900123", "number", "+1234567890123456"]) {
    assertEquals(faultsWith(mobile, value), [`Field.Invalid ${mobile}`], value);
  }
  const category = "Risk.MerchantCategoryCode";
  for (const value of ["573", "5732"]) assertEquals(faultsWith(category, value), []);
  for (const value of ["", "57", "57321", "zzzz"]) {
    assertEquals(faultsWith(category, value), [`Field.Invalid ${category}`]);
  }
});
