/**
 * The sandbox banks' customers and accounts. They are fixed, so that documents and demos can quote them. The passwords
 * are public on purpose.
 */

/** An account with its balance when the sandbox starts, in minor units (cents, pence). */
export interface CustomerAccount {
  readonly schemeName: "UK.OBIE.IBAN";
  /** IBAN without spaces. */
  readonly identification: string;
  readonly label: string;
  /** An IBAN with several currencies is one account for each of them (contract BF7). */
  readonly currency: string;
  readonly openingMinorUnits: number;
}

/** A customer of one bank. */
export interface Customer {
  /** Opaque: goes out as `Sub` and `sub`, so it is never an account number. */
  readonly id: string;
  readonly username: string;
  readonly password: string;
  readonly name: string;
  readonly accounts: readonly CustomerAccount[];
}

/** The one-time code that every sandbox customer gets. */
export const SANDBOX_CODE = "123456";
/** Password of every sandbox customer. */
export const SANDBOX_PASSWORD = "sandbox";
/** Alice's main EUR account at BANKA. */
export const ALICE_EUR_AT_BANKA = "GB33BUKB20201555555555";
/** Alice's EUR savings account at BANKA. Its balance is too low for most payments. */
export const ALICE_SAVINGS_AT_BANKA = "GB11BUKB20201555555563";
/** Alice's GBP account at BANKA. */
export const ALICE_GBP_AT_BANKA = "GB86BUKB20201555555571";
/** Bob's only account at BANKA. */
export const BOB_EUR_AT_BANKA = "GB25BUKB20201566666661";
/** Carol's account at BANKA, in GBP and EUR. */
export const CAROL_AT_BANKA = "GB81BUKB20201577777779";
/** Alice's main EUR account at BANKB. */
export const ALICE_EUR_AT_BANKB = "DE89370400440532013000";
/** Alice's EUR savings account at BANKB. Its balance is too low for most payments. */
export const ALICE_SAVINGS_AT_BANKB = "DE88370400440532013018";
/** Alice's GBP account at BANKB. */
export const ALICE_GBP_AT_BANKB = "DE66370400440532013026";
/** Bob's only account at BANKB. */
export const BOB_EUR_AT_BANKB = "DE33370400440532014008";
/** Carol's account at BANKB, in GBP and EUR. */
export const CAROL_AT_BANKB = "DE80370400440532015005";

const customersByBank: ReadonlyMap<string, readonly Customer[]> = new Map([
  [
    "BANKA",
    customersWith(
      [ALICE_EUR_AT_BANKA, ALICE_SAVINGS_AT_BANKA, ALICE_GBP_AT_BANKA],
      BOB_EUR_AT_BANKA,
      CAROL_AT_BANKA,
    ),
  ],
  [
    "BANKB",
    customersWith(
      [ALICE_EUR_AT_BANKB, ALICE_SAVINGS_AT_BANKB, ALICE_GBP_AT_BANKB],
      BOB_EUR_AT_BANKB,
      CAROL_AT_BANKB,
    ),
  ],
]);

/** The bank's customers; empty for a bank that the sandbox does not know. */
export function customersOf(bankCode: string): readonly Customer[] {
  return customersByBank.get(bankCode) ?? [];
}

/** The customer with these credentials, or undefined. Does not tell which of the two was wrong. */
export function findByCredentials(
  customers: readonly Customer[],
  { username, password }: { readonly username: string; readonly password: string },
): Customer | undefined {
  return customers.find((customer) => customer.username === username && customer.password === password);
}

/**
 * The account with this wire identification, or undefined if there is none. Of several currencies it is the one in
 * `currency`, else the first.
 */
export function accountAt(
  accounts: readonly CustomerAccount[],
  wire: { readonly SchemeName: string; readonly Identification: string },
  currency: string,
): CustomerAccount | undefined {
  if (!ibanSchemes.has(wire.SchemeName)) return undefined;
  const named = accounts.filter(({ identification }) => identification === plainIban(wire.Identification));
  return named.find((account) => account.currency === currency) ?? named[0];
}

/** Names an account in a form. */
export function accountId(
  { identification, currency }: Pick<CustomerAccount, "identification" | "currency">,
): string {
  return `${identification} ${currency}`;
}

/** Scheme names that identify an IBAN (contract CF20). */
export const ibanSchemes: ReadonlySet<string> = new Set(["UK.OBIE.IBAN", "IBAN"]);

/** An IBAN in electronic form: no spaces, upper case (ISO 13616). */
export function plainIban(text: string): string {
  return text.replaceAll(" ", "").toUpperCase();
}

function customersWith(
  [main, savings, sterling]: readonly [string, string, string],
  bobs: string,
  carols: string,
): readonly Customer[] {
  return [
    {
      id: "cust-alice",
      username: "alice",
      password: SANDBOX_PASSWORD,
      name: "Alice Example",
      accounts: [
        account(main, "Current account", "EUR", 10_000_000),
        account(savings, "Savings account", "EUR", 500),
        account(sterling, "Sterling account", "GBP", 2_500_000),
      ],
    },
    {
      id: "cust-bob",
      username: "bob",
      password: SANDBOX_PASSWORD,
      name: "Bob Example",
      accounts: [account(bobs, "Current account", "EUR", 250_000)],
    },
    {
      id: "cust-carol",
      username: "carol",
      password: SANDBOX_PASSWORD,
      name: "Carol Example",
      accounts: [
        account(carols, "Multi-currency account", "GBP", 500),
        account(carols, "Multi-currency account", "EUR", 500_000),
      ],
    },
  ];
}

function account(
  identification: string,
  label: string,
  currency: string,
  openingMinorUnits: number,
): CustomerAccount {
  return { schemeName: "UK.OBIE.IBAN", identification, label, currency, openingMinorUnits };
}
