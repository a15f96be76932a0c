/** Valid bodies of the resource endpoints for tests to edit, with the fewest members and with all. */
import type { JsonObject } from "./jwts.ts";
import { OBIE_SCHEMES } from "../../src/base/values/account.ts";

/** Context for the decoder of consents: mid-2026, three currencies, the usual schemes. */
export const CONTEXT = {
  now: Date.UTC(2026, 5, 1, 12),
  currencies: ["COP", "EUR", "GBP"],
  accountSchemes: OBIE_SCHEMES,
};

/** The smallest consent request. */
export const MINIMAL = {
  Data: {
    Initiation: {
      InstructedAmount: { Amount: "19.90", Currency: "EUR" },
      CreditorAccount: {
        SchemeName: "UK.OBIE.IBAN",
        Identification: "GB33BUKB20201555555555",
        Name: "Example Shop Ltd",
      },
    },
  },
  Risk: {},
};

/** `Data.Initiation` with every member. */
export const FULL_INITIATION = {
  InstructionIdentification: "INSTR-1",
  EndToEndIdentification: "E2E-1",
  InstructedAmount: { Amount: "19.90", Currency: "EUR" },
  DebtorAccount: {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB29NWBK60161331926819",
    Name: "Alice Payer",
    SecondaryIdentification: "SUB-7",
  },
  CreditorAccount: {
    SchemeName: "UK.OBIE.SortCodeAccountNumber",
    Identification: "11280001234567",
    Name: "Example Shop Ltd",
    SecondaryIdentification: "ROLL-1",
  },
  CreditorPostalAddress: {
    AddressType: "Business",
    Department: "Sales",
    SubDepartment: "Online",
    AddressLine: ["1 High Street", "Second floor"],
    StreetName: "High Street",
    BuildingNumber: "1",
    PostCode: "EC1A 1BB",
    TownName: "London",
    CountrySubDivision: "Greater London",
    Country: "UK",
  },
  RemittanceInformation: { Unstructured: "Order 1001, thank you", Reference: "ORDER-1001" },
  SupplementaryData: { DebtorMobileNumber: "+447700900123" },
};

/** `Risk` with every member. */
export const FULL_RISK = {
  PaymentContextCode: "EcommerceGoods",
  MerchantCategoryCode: "5732",
  MerchantCustomerIdentification: "customer-77",
  DeliveryAddress: {
    AddressLine: ["2 Low Street", "Back door"],
    StreetName: "Low Street",
    BuildingNumber: "2",
    PostCode: "AB1 2CD",
    TownName: "Aberdeen",
    CountrySubDivision: "Aberdeenshire",
    Country: "GB",
  },
};

/** A consent request with every member. */
export const FULL = {
  Data: {
    ReadRefundAccount: "Yes",
    Authorisation: { AuthorisationType: "Single", CompletionDateTime: "2026-06-02T12:00:00+00:00" },
    Initiation: FULL_INITIATION,
    SCASupportData: {
      RequestedSCAExemptionType: "EcommerceGoods",
      AppliedAuthenticationApproach: "SCA",
      ReferencePaymentOrderId: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
    },
  },
  Risk: FULL_RISK,
};

/** A consent request with every member. Its debtor account makes it implicit, and has a Name. */
export const FULL_CONSENT = {
  ...FULL,
  Data: {
    ...FULL.Data,
    Authorisation: { AuthorisationType: "Single", CompletionDateTime: "2040-01-16T10:30:00+02:00" },
  },
};

/** A copy of an object without some of its members. */
export function omitting(value: JsonObject, ...names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** The paths of a body's leaves: `Data.Initiation.CreditorPostalAddress.AddressLine[0]`. */
export function leavesOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leavesOf(item, `${path}[${i}]`));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member, path === "" ? name : `${path}.${name}`)
  );
}

/** The value with the members of each object in the opposite order. */
export function reverseMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseMembers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).reverse().map(([name, member]) => [name, reverseMembers(member)]),
  );
}
