/** The payment data of a consent, and how a payment compares with it. No I/O. */
import { type Account, canonicalScheme } from "../../../base/values/account.ts";
import { differences } from "../../../base/kernel/json.ts";

/** The payee's account. */
export interface CreditorAccount extends Account {
  readonly name: string;
}

/** Two fraction digits, an ISO 4217 code. */
export interface InstructedAmount {
  readonly amount: string;
  readonly currency: string;
}

/** Of the payee. */
export interface PostalAddress extends PlaceOfAddress {
  readonly addressType?: string | undefined;
  readonly department?: string | undefined;
  readonly subDepartment?: string | undefined;
}

/** Of the delivery. The schema requires its town and country. */
export interface PlaceOfAddress {
  readonly addressLine?: readonly string[] | undefined;
  readonly streetName?: string | undefined;
  readonly buildingNumber?: string | undefined;
  readonly postCode?: string | undefined;
  readonly townName?: string | undefined;
  readonly countrySubDivision?: string | undefined;
  readonly country?: string | undefined;
}

/** The payment that a consent or a payment asks for. With a `debtorAccount` the consent is implicit. */
export interface Initiation {
  readonly instructionIdentification?: string | undefined;
  readonly endToEndIdentification?: string | undefined;
  readonly instructedAmount: InstructedAmount;
  readonly debtorAccount?: Account | undefined;
  readonly creditorAccount: CreditorAccount;
  readonly creditorPostalAddress?: PostalAddress | undefined;
  readonly remittanceInformation?:
    | { readonly unstructured?: string | undefined; readonly reference?: string | undefined }
    | undefined;
  readonly supplementaryData?: { readonly debtorMobileNumber?: string | undefined } | undefined;
}

/** The TPP's statement about the risk of a consent or a payment. */
export interface Risk {
  readonly paymentContextCode?: string | undefined;
  readonly merchantCategoryCode?: string | undefined;
  readonly merchantCustomerIdentification?: string | undefined;
  readonly deliveryAddress?: PlaceOfAddress | undefined;
}

/** The data that a payment must repeat from its consent. */
export interface PaymentData {
  readonly initiation: Initiation;
  readonly risk: Risk;
}

/**
 * Compares a payment with its consent. Returns the path of each differing leaf, depth first, and none if the payment
 * may be made (contract MT1 to MT4; Decision C6).
 *
 * @param selected the account chosen for an explicit consent, which the payment may name without the payer's name
 */
export function differencesFrom(consent: PaymentData, payment: PaymentData, selected?: Account): string[] {
  const expected = expectedInitiation(consent.initiation, payment.initiation, selected);
  return [
    ...differences(expected, payment.initiation, "initiation"),
    ...differences(consent.risk, payment.risk, "risk"),
  ];
}

/** Returns the consent's initiation as this payment may repeat it. */
function expectedInitiation(
  consent: Initiation,
  payment: Initiation,
  selected: Account | undefined,
): Initiation {
  // Responses to the TPP do not contain them, so a payment built from a response lacks them (contract MT3).
  const { creditorPostalAddress, supplementaryData, debtorAccount: _, ...always } = consent;
  const debtor = consent.debtorAccount === undefined
    ? selectedAsSpelt(selected, payment.debtorAccount)
    : payment.debtorAccount?.name === undefined
    ? withoutName(consent.debtorAccount)
    : consent.debtorAccount;
  return {
    ...always,
    ...(debtor === undefined ? {} : { debtorAccount: debtor }),
    ...(payment.creditorPostalAddress === undefined ? {} : { creditorPostalAddress }),
    ...(payment.supplementaryData === undefined ? {} : { supplementaryData }),
  };
}

/**
 * Returns the selected account if the payment names an account (contract MT2), with the scheme name that the payment
 * uses.
 */
function selectedAsSpelt(selected: Account | undefined, named: Account | undefined): Account | undefined {
  if (selected === undefined || named === undefined) return undefined;
  const sameScheme = canonicalScheme(named.schemeName) === canonicalScheme(selected.schemeName);
  const account = withoutName(selected);
  return sameScheme ? { ...account, schemeName: named.schemeName } : account;
}

/** Returns an account as the TPP may read it, without the payer's name. */
export function withoutName({ schemeName, identification, secondaryIdentification }: Account): Account {
  return {
    schemeName,
    identification,
    ...(secondaryIdentification === undefined ? {} : { secondaryIdentification }),
  };
}
