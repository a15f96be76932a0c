/**
 * `Data.Initiation` and `Risk` in requests for consents and payments: the rules of contract CF1 to CF22. Ids are
 * optional, and unknown members are rejected.
 */
import { z } from "@hono/zod-openapi";
import { rejectedAs, valueAt } from "../../guards/http/decode.ts";
import {
  countryCode,
  currencyCode,
  fromWire,
  patterned,
  personName,
  shownText,
  text,
} from "../../guards/http/wire_fields.ts";
import {
  type Account,
  type AccountSchemes,
  identificationFault,
  isSameAccount,
  schemeFault,
} from "../../../base/values/account.ts";
import { AMOUNT_PATTERN, decimalsOf, isAmount, isCurrencyCode } from "../../../base/values/money.ts";
import type { Fault } from "../../../base/kernel/api_error.ts";
import type { Initiation } from "./initiation.ts";

// Accounts in request bodies: their fields, whether the scheme is accepted, and whether the identification has its
// format.

const MAX_IDENTIFICATION = 256;

const schemeName = z.string().openapi({
  minLength: 1,
  maxLength: 40,
  description:
    "A scheme that the platform accepts. The error for any other scheme lists the accepted ones. Usually " +
    "UK.OBIE.IBAN, .BBAN, .SortCodeAccountNumber, .Paym or .Wallet; an operator may add schemes " +
    "`CC.Issuer.Scheme` with a format of letters and digits.",
  example: "UK.OBIE.IBAN",
});

export const accountFields = {
  SchemeName: schemeName,
  Identification: text(MAX_IDENTIFICATION, "Unsupported.AccountIdentifier")
    .openapi({ description: "In the format of the scheme.", example: "GB33BUKB20201555555555" }),
  SecondaryIdentification: text(34, "Unsupported.AccountSecondaryIdentifier").optional(),
};

/** `CreditorAccount`: the payee's account. */
export const creditorAccountSchema = z.strictObject({
  ...accountFields,
  Name: personName(350).openapi({ example: "Example Shop Ltd" }),
}).openapi("CreditorAccount");

/** `DebtorAccount`: the payer's account. Its presence makes the consent implicit. */
export const debtorAccountSchema = z.strictObject({
  ...accountFields,
  Name: personName(350).optional().openapi({
    description: "The payer's name. The bank gets it. In responses to the TPP, only `Refund.Account` has it.",
  }),
}).openapi("DebtorAccount", { description: "The payer's account. Its presence makes the consent implicit." });

/**
 * Reports an account whose scheme is not accepted or whose Identification does not have its format (contract CF20,
 * CF21).
 */
export function accountFaults(account: unknown, path: string, schemes: AccountSchemes): Fault[] {
  const scheme = valueAt(account, ["SchemeName"]);
  if (typeof scheme !== "string") return []; // the schema rejects a missing scheme
  const unsupported = schemeFault(schemes, scheme);
  if (unsupported !== undefined) {
    return [{ code: "Unsupported.Scheme", path: `${path}.SchemeName`, message: unsupported }];
  }
  const identification = valueAt(account, ["Identification"]);
  if (typeof identification !== "string") return [];
  const message = identificationFault(schemes, scheme, identification);
  return message === undefined
    ? []
    : [{ code: "Unsupported.AccountIdentifier", path: `${path}.Identification`, message }];
}

const ADDRESS_TYPES = [
  "Business",
  "Correspondence",
  "DeliveryTo",
  "MailTo",
  "POBox",
  "Postal",
  "Residential",
  "Statement",
] as const;

/** The codes of OBIE 3.1.4 to 3.1.9 and those since 3.1.10. */
const PAYMENT_CONTEXT_CODES = [
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
] as const;

/** Limits the message to the 500 characters of `Errors[].Message`. */
const MAX_LISTED_CURRENCIES = 80;

const AMOUNT_RULE =
  "Must be digits, a dot and two digits, such as 1.00: more than zero, at most 13 digits before the dot, no leading zero.";
const amount = z.string(AMOUNT_RULE)
  .refine(isAmount, rejectedAs("Field.Invalid", AMOUNT_RULE))
  .openapi({ pattern: AMOUNT_PATTERN.source, example: "19.90" });

const NOT_OF_CONSENTS =
  "Not in responses about the consent. In responses about the payment if the request for the payment had it.";

/** Fields of both kinds of address. */
const placeFields = {
  StreetName: text(70).optional(),
  BuildingNumber: text(16).optional(),
  PostCode: text(16).optional(),
  CountrySubDivision: text(35).optional(),
};

const postalAddressSchema = z.strictObject({
  AddressType: z.enum(ADDRESS_TYPES).optional(),
  Department: text(70).optional(),
  SubDepartment: text(70).optional(),
  AddressLine: z.array(text(70)).max(7).optional(),
  ...placeFields,
  TownName: text(35).optional(),
  Country: countryCode().optional(),
}).openapi("CreditorPostalAddress", { description: NOT_OF_CONSENTS });

const deliveryAddressSchema = z.strictObject({
  AddressLine: z.array(text(70)).max(2).optional(),
  ...placeFields,
  TownName: text(35),
  Country: countryCode(),
}).openapi("DeliveryAddress");

const instructedAmountSchema = z.strictObject({ Amount: amount, Currency: currencyCode() }).openapi(
  "InstructedAmount",
);

/** `Data.Initiation`. */
export const initiationSchema = z.strictObject({
  InstructionIdentification: text(35).nullable().optional(), // null means absent, as in the back channel
  EndToEndIdentification: text(35).nullable().optional(),
  InstructedAmount: instructedAmountSchema,
  DebtorAccount: debtorAccountSchema.optional(),
  CreditorAccount: creditorAccountSchema,
  CreditorPostalAddress: postalAddressSchema.optional(),
  RemittanceInformation: z.strictObject({
    Unstructured: shownText(140).optional(),
    Reference: shownText(35).optional(),
  }).openapi("RemittanceInformation").optional(),
  SupplementaryData: z.strictObject({
    DebtorMobileNumber: text(35).optional().openapi({
      description: "As the TPP writes it.",
      example: "+447700900123",
    }),
  }).openapi("SupplementaryData", { description: NOT_OF_CONSENTS }).optional(),
}).openapi("Initiation");

/** `Risk` is required but may be empty. */
export const riskSchema = z.strictObject({
  PaymentContextCode: z.enum(PAYMENT_CONTEXT_CODES).optional(),
  MerchantCategoryCode: patterned(/^\d{3,4}$/, "Must have three or four digits (ISO 18245).").optional(),
  MerchantCustomerIdentification: text(70).optional(),
  DeliveryAddress: deliveryAddressSchema.optional(),
}).openapi("Risk");

/** Of a consent and of its payment, for the OpenAPI document. */
export const EXAMPLE_OF_PAYMENT = {
  Initiation: {
    InstructionIdentification: "ORDER-1001",
    EndToEndIdentification: "ORDER-1001",
    InstructedAmount: { Amount: "19.90", Currency: "EUR" },
    CreditorAccount: {
      SchemeName: "UK.OBIE.IBAN",
      Identification: "GB33BUKB20201555555555",
      Name: "Example Shop Ltd",
    },
    RemittanceInformation: { Reference: "ORDER-1001" },
  },
  Risk: { PaymentContextCode: "EcommerceGoods", MerchantCategoryCode: "5732" },
};

/** The currencies and account schemes that a deployment supports. */
export interface Supported {
  /** Supported ISO 4217 codes. */
  readonly currencies: readonly string[];
  readonly accountSchemes: AccountSchemes;
}

/** Decodes the Initiation. An id that was null is omitted. */
export function initiationOf(wire: z.infer<typeof initiationSchema>): Initiation {
  const { instructionIdentification, endToEndIdentification, ...rest } = fromWire(wire);
  return {
    ...(typeof instructionIdentification === "string" ? { instructionIdentification } : {}),
    ...(typeof endToEndIdentification === "string" ? { endToEndIdentification } : {}),
    ...rest,
  };
}

/**
 * Checks the rules of `Data.Initiation` that no single field can express: currency and account schemes are supported,
 * identifications have their scheme's format, and payer and payee differ.
 */
export function initiationFaults(body: unknown, { currencies, accountSchemes }: Supported): Fault[] {
  const initiation = valueAt(body, ["Data", "Initiation"]);
  const creditor = valueAt(initiation, ["CreditorAccount"]);
  const debtor = valueAt(initiation, ["DebtorAccount"]);
  return [
    ...currencyFaults(valueAt(initiation, ["InstructedAmount", "Currency"]), currencies),
    ...decimalFaults(valueAt(initiation, ["InstructedAmount"]), currencies),
    ...accountFaults(creditor, "Data.Initiation.CreditorAccount", accountSchemes),
    ...accountFaults(debtor, "Data.Initiation.DebtorAccount", accountSchemes),
    ...selfPaymentFaults(creditor, debtor),
  ];
}

function currencyFaults(currency: unknown, currencies: readonly string[]): Fault[] {
  if (!isCurrencyCode(currency) || currencies.includes(currency)) return [];
  const path = "Data.Initiation.InstructedAmount.Currency";
  const supported = currencies.slice(0, MAX_LISTED_CURRENCIES).join(", ");
  const message = `Payments in this currency are not supported. Supported are: ${supported}.`;
  return [{ code: "Unsupported.Currency", path, message }];
}

/** An amount in a currency without a minor unit is whole (contract CF23). */
function decimalFaults(instructed: unknown, currencies: readonly string[]): Fault[] {
  const [amount, currency] = ["Amount", "Currency"].map((name) => valueAt(instructed, [name]));
  if (!isAmount(amount) || typeof currency !== "string" || amount.endsWith(".00")) return [];
  if (!currencies.includes(currency) || decimalsOf(currency) !== 0) return [];
  const path = "Data.Initiation.InstructedAmount.Amount";
  const message = `Must end in .00, because ${currency} has no minor unit (ISO 4217).`;
  return [{ code: "Field.Invalid", path, message }];
}

function selfPaymentFaults(creditor: unknown, debtor: unknown): Fault[] {
  const [payee, payer] = [creditor, debtor].map((account) => ({
    schemeName: valueAt(account, ["SchemeName"]),
    identification: valueAt(account, ["Identification"]),
    secondaryIdentification: valueAt(account, ["SecondaryIdentification"]),
  }));
  if (!isNamed(payee) || !isNamed(payer) || !isSameAccount(payee, payer)) return [];
  return [{
    code: "Field.Invalid",
    path: "Data.Initiation.DebtorAccount",
    message: "Is the same as CreditorAccount.",
  }];
}

function isNamed(account: { readonly [Member in keyof Account]: unknown } | undefined): account is Account {
  return typeof account?.schemeName === "string" && typeof account.identification === "string";
}
