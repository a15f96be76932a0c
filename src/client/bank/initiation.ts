/** What an order says of the payment (`Initiation`, contract CF1 to CF22), as the wire names it. */

/** An account as an order names it. */
export interface OrderAccount {
  readonly SchemeName: string;
  readonly Identification: string;
  readonly SecondaryIdentification?: string | undefined;
  readonly Name?: string | undefined;
}

/** The account that pays. */
export interface PayingAccount extends OrderAccount {
  /** Absent: the payment's. An IBAN can have several. */
  readonly Currency?: string | undefined;
}

/** The payee's address. Its members are those of ISO 20022. */
export interface OrderAddress {
  readonly AddressType?: string | undefined;
  readonly Department?: string | undefined;
  readonly SubDepartment?: string | undefined;
  readonly AddressLine?: readonly string[] | undefined;
  readonly StreetName?: string | undefined;
  readonly BuildingNumber?: string | undefined;
  readonly PostCode?: string | undefined;
  readonly TownName?: string | undefined;
  readonly CountrySubDivision?: string | undefined;
  readonly Country?: string | undefined;
}

/** What the TPP ordered and the customer authorised. */
export interface OrderedInitiation {
  readonly InstructionIdentification?: string | undefined;
  readonly EndToEndIdentification?: string | undefined;
  readonly InstructedAmount: { readonly Amount: string; readonly Currency: string };
  /** The payer's account, if the TPP named one. */
  readonly DebtorAccount?: OrderAccount | undefined;
  readonly CreditorAccount: OrderAccount;
  readonly CreditorPostalAddress?: OrderAddress | undefined;
  readonly RemittanceInformation?:
    | { readonly Unstructured?: string | undefined; readonly Reference?: string | undefined }
    | undefined;
  readonly SupplementaryData?: { readonly DebtorMobileNumber?: string | undefined } | undefined;
}
