/** Valid request bodies for tests to edit. */
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
