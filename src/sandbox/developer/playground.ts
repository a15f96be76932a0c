/** A consent whose fields a developer edits, and what the screens of platform and bank show of it. */
import type { ConsentView } from "../../pages/consent_page.tsx";
import { isLanguage, type Language, LANGUAGES } from "../../pages/language.ts";
import type { BankConsent } from "../../client/bank/back_channel.ts";
import { isIban } from "../../client/tpp/payment_request.ts";
import type { CustomerAccount } from "../bank/customers.ts";
import { customersOf } from "../bank/customers.ts";
import { minorUnits } from "../bank/money.ts";
import { merchant } from "../shop/catalogue.ts";

/** A field of the form. A value that it does not accept is replaced by its first one. */
export interface PlaygroundField {
  readonly name: "payee" | "account" | "amount" | "currency" | "reference" | "text" | "lang";
  readonly label: string;
  /** What it is in a consent. */
  readonly member?: string;
  readonly first: string;
  readonly options?: readonly string[];
  readonly accepts: (value: string) => boolean;
  readonly expected: string;
  readonly max: number;
}

const CURRENCIES: readonly string[] = ["EUR", "GBP", "USD"];

/** No control characters, as the platform's own rule has it. */
const isText = (value: string): boolean => !/[\p{Cc}\p{Cn}]/u.test(value);

export const FIELDS: readonly PlaygroundField[] = [
  {
    name: "amount",
    label: "Amount",
    member: "InstructedAmount.Amount",
    first: "12.50",
    accepts: (value) => (minorUnits(value) ?? 0) > 0,
    expected: "a positive number with two fraction digits, such as 12.50",
    max: 16,
  },
  {
    name: "currency",
    label: "Currency",
    member: "InstructedAmount.Currency",
    first: "EUR",
    options: CURRENCIES,
    accepts: (value) => CURRENCIES.includes(value),
    expected: `one of ${CURRENCIES.join(", ")}`,
    max: 3,
  },
  {
    name: "payee",
    label: "Payee",
    member: "CreditorAccount.Name",
    first: merchant.name,
    accepts: (value) => value !== "" && isText(value),
    expected: "1 to 70 characters",
    max: 70,
  },
  {
    name: "account",
    label: "Payee’s account (IBAN)",
    member: "CreditorAccount.Identification",
    first: merchant.iban,
    accepts: isIban,
    expected: "an IBAN without spaces and with the right check number",
    max: 34,
  },
  {
    name: "reference",
    label: "Reference",
    member: "RemittanceInformation.Reference",
    first: "ORDER-4711",
    accepts: isText,
    expected: "at most 35 characters",
    max: 35,
  },
  {
    name: "text",
    label: "Text",
    member: "RemittanceInformation.Unstructured",
    first: "Lunch of the day",
    accepts: isText,
    expected: "at most 140 characters",
    max: 140,
  },
  {
    name: "lang",
    label: "Language of the screens",
    first: "en",
    options: LANGUAGES,
    accepts: isLanguage,
    expected: `one of ${LANGUAGES.join(", ")}`,
    max: 2,
  },
];

/** The edited consent. */
export interface Edited {
  readonly values: Readonly<Record<string, string>>;
  /** What each rejected value must be, by the name of its field. */
  readonly faults: ReadonlyMap<string, string>;
  readonly language: Language;
}

/** Reads the fields from the query of an address. */
export function readEdited(query: URLSearchParams): Edited {
  const faults = new Map<string, string>();
  const values = FIELDS.map(({ name, first, max, accepts, expected }) => {
    const value = query.get(name)?.trim() ?? first;
    if (value.length <= max && accepts(value)) return [name, value] as const;
    faults.set(name, expected);
    return [name, first] as const;
  });
  const all = Object.fromEntries(values);
  return { values: all, faults, language: isLanguage(all["lang"]) ? all["lang"] : "en" };
}

/** The body of the request that creates the consent. */
export function consentBody({ values }: Edited): object {
  return {
    Data: {
      ReadRefundAccount: "Yes",
      Initiation: {
        InstructionIdentification: "playground",
        EndToEndIdentification: "playground",
        ...consentOf(values),
      },
    },
    Risk: { PaymentContextCode: "EcommerceGoods" },
  };
}

/** The consent as a bank reads it. */
export function consentOf(values: Edited["values"]): BankConsent {
  const { amount = "", currency = "", payee = "", account = "", reference = "", text = "" } = values;
  const remittance = {
    ...(text === "" ? {} : { Unstructured: text }),
    ...(reference === "" ? {} : { Reference: reference }),
  };
  return {
    InstructedAmount: { Amount: amount, Currency: currency },
    CreditorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: account, Name: payee },
    ...(Object.keys(remittance).length === 0 ? {} : { RemittanceInformation: remittance }),
  };
}

/** The customer's accounts at the bank, as the sandbox has them when it starts. */
export function accountsAt(bank: string): readonly CustomerAccount[] {
  return customersOf(bank)[0]?.accounts ?? [];
}

/** The opening balance. */
export function balanceOf({ openingMinorUnits }: CustomerAccount): string {
  return (openingMinorUnits / 100).toFixed(2);
}

/** The platform's screen. `hrefOf` is where the screen is in another language. */
export function platformView(
  { values }: Edited,
  hrefOf: (language: Language) => string,
  now: number,
): ConsentView {
  const { amount = "", currency = "", payee = "", account = "", reference = "", text = "" } = values;
  return {
    tpp: {
      legalName: merchant.name,
      clientId: "SC-playground",
      registrationNumber: "SANDBOX-0001",
      role: "PISP",
      registeredSince: now,
    },
    bank: { code: "BANKA", name: "Bank A" },
    payee: { name: payee, identification: account, schemeName: "UK.OBIE.IBAN" },
    amount: { amount, currency },
    ...(reference === "" ? {} : { reference }),
    ...(text === "" ? {} : { unstructured: text }),
    accounts: accountsAt("BANKA").map((one, index) => shownAccount(one, index, { amount, currency })),
    expiresAt: now + 900_000,
    csrf: "",
    action: "",
    now,
    site: {
      sandbox: true,
      operator: { name: undefined, logo: undefined, support: undefined, timeZone: "UTC" },
    },
    languageSwitch: LANGUAGES.map((language) => ({ language, href: hrefOf(language) })),
    isAccountMissing: false,
  };
}

function shownAccount(
  account: CustomerAccount,
  index: number,
  { amount, currency }: { readonly amount: string; readonly currency: string },
): ConsentView["accounts"][number] {
  const isEnough = account.openingMinorUnits >= (minorUnits(amount) ?? Infinity);
  const isSame = account.currency === currency;
  return {
    index,
    schemeName: account.schemeName,
    identification: account.identification,
    balance: balanceOf(account),
    currency: account.currency,
    canPay: isSame, // a low balance is a warning (Decision G3)
    why: !isSame ? "other_currency" : isEnough ? undefined : "insufficient_funds",
  };
}
