/** The demo shop's goods, payee and banks. They are fixed, so that demos can quote them. */

/** An item for sale, described in the shop's messages. `price` is euros with two fraction digits. */
export interface Good {
  readonly id: "breakfast" | "lunch" | "dinner";
  /** In English, for the payment's reference. */
  readonly name: string;
  readonly price: string;
}

/** A bank a customer may choose. */
export interface BankChoice {
  readonly code: "BANKA" | "BANKB";
  readonly name: string;
  /** An account of the sandbox's customer at this bank, to copy into the form. */
  readonly exampleIban: string;
}

/** The goods for sale. */
export const goods: readonly Good[] = [
  { id: "breakfast", name: "Breakfast", price: "4.20" },
  { id: "lunch", name: "Lunch of the day", price: "12.50" },
  { id: "dinner", name: "Dinner for two", price: "89.00" },
];

/** The sandbox's banks. */
export const banks: readonly BankChoice[] = [
  {
    code: "BANKA",
    name: "Bank A",
    exampleIban: "GB33BUKB20201555555555",
  },
  {
    code: "BANKB",
    name: "Bank B",
    exampleIban: "DE89370400440532013000",
  },
];

/** The merchant: name, account and ISO 18245 category (eating places). */
export const merchant = {
  name: "Cafe Mirabelle",
  iban: "FR1420041010050500013M02606",
  categoryCode: "5812",
} as const;
