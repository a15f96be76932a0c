/**
 * The payment data of a consent, with the field names of the API because it is stored, compared and echoed as it was
 * sent. Compares a payment with its consent, and selects the data that each reader gets. No I/O.
 */
import { MAX_FAULTS } from "../http/decode.ts";
import { type Account, canonicalScheme } from "../../base/values/account.ts";
import { differences } from "../../base/kernel/json_differences.ts";
import type { Fault } from "../../base/kernel/api_error.ts";

/** `DebtorAccount` of the API. */
export interface WireAccount {
  readonly SchemeName: string;
  readonly Identification: string;
  readonly Name?: string | undefined;
  readonly SecondaryIdentification?: string | undefined;
}

/** `CreditorAccount` of the API. */
export interface WireCreditorAccount extends WireAccount {
  readonly Name: string;
}

/** `InstructedAmount`: two fraction digits, an ISO 4217 code. */
export interface InstructedAmount {
  readonly Amount: string;
  readonly Currency: string;
}

/** `CreditorPostalAddress`. */
export interface PostalAddress extends PlaceOfAddress {
  readonly AddressType?: string | undefined;
  readonly Department?: string | undefined;
  readonly SubDepartment?: string | undefined;
}

/** `Risk.DeliveryAddress`. The schema requires its town and country. */
export interface PlaceOfAddress {
  readonly AddressLine?: readonly string[] | undefined;
  readonly StreetName?: string | undefined;
  readonly BuildingNumber?: string | undefined;
  readonly PostCode?: string | undefined;
  readonly TownName?: string | undefined;
  readonly CountrySubDivision?: string | undefined;
  readonly Country?: string | undefined;
}

/** `Data.Initiation` of a consent and of a payment. With a DebtorAccount the consent is implicit. */
export interface Initiation {
  readonly InstructionIdentification?: string | undefined;
  readonly EndToEndIdentification?: string | undefined;
  readonly InstructedAmount: InstructedAmount;
  readonly DebtorAccount?: WireAccount | undefined;
  readonly CreditorAccount: WireCreditorAccount;
  readonly CreditorPostalAddress?: PostalAddress | undefined;
  readonly RemittanceInformation?:
    | { readonly Unstructured?: string | undefined; readonly Reference?: string | undefined }
    | undefined;
  readonly SupplementaryData?: { readonly DebtorMobileNumber?: string | undefined } | undefined;
}

/** `Risk` of a consent and of a payment. */
export interface Risk {
  readonly PaymentContextCode?: string | undefined;
  readonly MerchantCategoryCode?: string | undefined;
  readonly MerchantCustomerIdentification?: string | undefined;
  readonly DeliveryAddress?: PlaceOfAddress | undefined;
}

/** The data that a payment must repeat from its consent. */
export interface PaymentData {
  readonly Initiation: Initiation;
  readonly Risk: Risk;
}

/** `Initiation` in the response to the POST of a consent: without the payer's name, address and mobile number. */
export type EchoedInitiation = Omit<Initiation, "CreditorPostalAddress" | "SupplementaryData">;
/** `Initiation` in the response to the GET of a consent. */
export type ReducedInitiation = Omit<
  EchoedInitiation,
  "InstructionIdentification" | "EndToEndIdentification"
>;
/** `Initiation` for the bank: absent ids are null, and the payer's name is included. */
export interface BankInitiation {
  readonly InstructionIdentification: string | null;
  readonly EndToEndIdentification: string | null;
  readonly InstructedAmount: InstructedAmount;
  readonly CreditorAccount: WireCreditorAccount;
  readonly DebtorAccount?: WireAccount;
}

/**
 * Compares a payment with its consent. Returns one `Resource.ConsentMismatch` for each differing leaf, depth first,
 * at most 20, and none if the payment may be made (contract MT1 to MT4; Decision C6).
 *
 * @param selected the account chosen for an explicit consent, which the payment may name
 */
export function compareWithConsent(consent: PaymentData, payment: PaymentData, selected?: Account): Fault[] {
  const paths = [
    ...differences(
      expectedInitiation(consent.Initiation, payment.Initiation, selected),
      payment.Initiation,
      "Data.Initiation",
    ),
    ...differences(consent.Risk, payment.Risk, "Risk"),
  ];
  const message = "Differs from the consent.";
  return paths.slice(0, MAX_FAULTS).map((path) => ({ code: "Resource.ConsentMismatch", path, message }));
}

/** Returns the consent's Initiation as this payment may repeat it. */
function expectedInitiation(
  consent: Initiation,
  payment: Initiation,
  selected: Account | undefined,
): Initiation {
  // Responses to the TPP do not contain them, so a payment built from a response lacks them (contract MT3).
  const { CreditorPostalAddress, SupplementaryData, DebtorAccount: _, ...always } = consent;
  const debtor = consent.DebtorAccount === undefined
    ? selectedAsSpelt(selected, payment.DebtorAccount)
    : payment.DebtorAccount?.Name === undefined
    ? withoutName(consent.DebtorAccount)
    : consent.DebtorAccount;
  return {
    ...always,
    ...(debtor === undefined ? {} : { DebtorAccount: debtor }),
    ...(payment.CreditorPostalAddress === undefined ? {} : { CreditorPostalAddress }),
    ...(payment.SupplementaryData === undefined ? {} : { SupplementaryData }),
  };
}

/**
 * Returns the selected account if the payment names an account (contract MT2), with the scheme name that the payment
 * uses.
 */
function selectedAsSpelt(
  selected: Account | undefined,
  named: WireAccount | undefined,
): WireAccount | undefined {
  if (selected === undefined || named === undefined) return undefined;
  const account = wireAccountOf(selected);
  const sameScheme = canonicalScheme(named.SchemeName) === canonicalScheme(account.SchemeName);
  return sameScheme ? { ...account, SchemeName: named.SchemeName } : account;
}

/** The data in the response to the POST of a consent (contract CR2). */
export function echoedInitiation(initiation: Initiation): EchoedInitiation {
  const { InstructionIdentification, EndToEndIdentification } = initiation;
  return {
    ...(InstructionIdentification === undefined ? {} : { InstructionIdentification }),
    ...(EndToEndIdentification === undefined ? {} : { EndToEndIdentification }),
    ...reducedInitiation(initiation),
  };
}

/** The data in responses about a payment: everything except the payer's name (contract PR3). */
export function paidInitiation(initiation: Initiation): Initiation {
  const { DebtorAccount, ...rest } = initiation;
  return DebtorAccount === undefined ? rest : { ...rest, DebtorAccount: withoutName(DebtorAccount) };
}

/** The data in the response to the GET of a consent. It has the payer's account only if the TPP named it. */
export function reducedInitiation(initiation: Initiation): ReducedInitiation {
  const { InstructedAmount, DebtorAccount, CreditorAccount, RemittanceInformation } = initiation;
  return {
    InstructedAmount,
    ...(DebtorAccount === undefined ? {} : { DebtorAccount: withoutName(DebtorAccount) }),
    CreditorAccount,
    ...(RemittanceInformation === undefined ? {} : { RemittanceInformation }),
  };
}

/** The data for the bank on the back channel (contract BF2). Only the bank gets the payer's name. */
export function bankInitiation(initiation: Initiation): BankInitiation {
  const { InstructedAmount, DebtorAccount, CreditorAccount } = initiation;
  return {
    InstructionIdentification: initiation.InstructionIdentification ?? null,
    EndToEndIdentification: initiation.EndToEndIdentification ?? null,
    InstructedAmount,
    ...(DebtorAccount === undefined ? {} : { DebtorAccount }),
    CreditorAccount,
  };
}

export function accountOf(wire: WireAccount): Account {
  const { SchemeName, Identification, Name, SecondaryIdentification } = wire;
  return {
    schemeName: SchemeName,
    identification: Identification,
    ...(Name === undefined ? {} : { name: Name }),
    ...(SecondaryIdentification === undefined ? {} : { secondaryIdentification: SecondaryIdentification }),
  };
}

export function wireAccountOf(account: Account): WireAccount {
  const { schemeName, identification, name, secondaryIdentification } = account;
  return {
    SchemeName: schemeName,
    Identification: identification,
    ...(name === undefined ? {} : { Name: name }),
    ...(secondaryIdentification === undefined ? {} : { SecondaryIdentification: secondaryIdentification }),
  };
}

/** Returns an account as the TPP may read it, without the payer's name. */
export function withoutName(
  { SchemeName, Identification, SecondaryIdentification }: WireAccount,
): WireAccount {
  return {
    SchemeName,
    Identification,
    ...(SecondaryIdentification === undefined ? {} : { SecondaryIdentification }),
  };
}
