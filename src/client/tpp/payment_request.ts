/**
 * Builds the payment request of a merchant in wire format: initiation and risk, the same in the consent and in the
 * payment, and the check of an account number.
 */

/** An account on the wire. */
export interface WireAccount {
  readonly SchemeName: string;
  readonly Identification: string;
  readonly Name?: string;
}

/** `Data.Initiation` of a consent and, unchanged, of its payment. */
export interface Initiation {
  readonly InstructionIdentification: string;
  readonly EndToEndIdentification: string;
  readonly InstructedAmount: { readonly Amount: string; readonly Currency: string };
  readonly CreditorAccount: WireAccount & { readonly Name: string };
  /** Present: the consent is implicit. */
  readonly DebtorAccount?: WireAccount;
  readonly RemittanceInformation: { readonly Unstructured: string; readonly Reference: string };
}

/** `Risk` of a consent and, unchanged, of its payment. */
export interface Risk {
  readonly PaymentContextCode: string;
  readonly MerchantCategoryCode: string;
  readonly MerchantCustomerIdentification: string;
}

/** Initiation and risk of one order. */
export interface PaymentRequest {
  readonly initiation: Initiation;
  readonly risk: Risk;
}

/** One purchase. `orderId` is a UUID; `amount` is euros with two fraction digits. */
export interface Purchase {
  readonly orderId: string;
  readonly description: string;
  readonly amount: string;
  readonly merchant: { readonly name: string; readonly iban: string; readonly categoryCode: string };
  /** The customer's account, if already chosen. */
  readonly debtorIban?: string;
}

const iban = "UK.OBIE.IBAN";

/** The request for one purchase; its identifications are unique because the order's is. */
export function paymentRequest(purchase: Purchase): PaymentRequest {
  const { merchant, debtorIban } = purchase;
  const unique = purchase.orderId.replaceAll("-", ""); // Text35 is too short for a UUID and a prefix
  const short = unique.slice(0, 12);
  const reference = `ORDER-${short}`; // human-readable: the banks show it to the customer
  return {
    initiation: {
      InstructionIdentification: unique,
      EndToEndIdentification: reference,
      InstructedAmount: { Amount: purchase.amount, Currency: "EUR" },
      CreditorAccount: { SchemeName: iban, Identification: merchant.iban, Name: merchant.name },
      ...(debtorIban === undefined
        ? {}
        : { DebtorAccount: { SchemeName: iban, Identification: debtorIban } }),
      RemittanceInformation: { Unstructured: purchase.description, Reference: reference },
    },
    risk: {
      PaymentContextCode: "EcommerceGoods",
      MerchantCategoryCode: merchant.categoryCode,
      MerchantCustomerIdentification: `customer-${short}`,
    },
  };
}

/** Returns whether the text, without spaces, is an IBAN with a correct check number (ISO 13616, mod 97). */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) return false;
  const digits = [...text.slice(4), ...text.slice(0, 4)].map((character) => parseInt(character, 36)).join("");
  return BigInt(digits) % 97n === 1n;
}
