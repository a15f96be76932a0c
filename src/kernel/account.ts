/**
 * Accounts and the schemes that identify them (open-banking reference 1.7). Says whether an identification
 * fits its scheme; never whether the account exists.
 */
import { ibanFault, isIban } from "./iban.ts";
import { isCountryCode } from "./iso_countries.ts";

/** An account as its holder or its bank names it. The strings are kept exactly as given. */
export interface Account {
  readonly schemeName: string;
  readonly identification: string;
  readonly name?: string;
  readonly secondaryIdentification?: string;
}

/** A mobile number: E.164, or ISO 20022 PhoneNumber (reference 1.1). */
export const MOBILE_NUMBER_PATTERN = /^(\+?[0-9]{7,15}|\+[0-9]{1,3}-[0-9()+-]{1,30})$/;

const MAX_SCHEME_CHARACTERS = 40;
const EXTENSION = /^([A-Z]{2})\.([A-Za-z0-9][A-Za-z0-9_-]*)\.[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** What is wrong with an identification of the scheme, as a sentence for the caller; undefined for a good one. */
type FindFault = (identification: string) => string | undefined;

const FORMATS: ReadonlyMap<string, FindFault> = new Map<string, FindFault>([
  ["UK.OBIE.IBAN", ibanFault],
  ["UK.OBIE.BBAN", unless(/^[A-Za-z0-9]{1,30}$/, "Must be a BBAN: 1 to 30 letters and digits.")],
  [
    "UK.OBIE.SortCodeAccountNumber",
    unless(/^[0-9]{14}$/, "Must be a sort code and account number: 14 digits."),
  ],
  ["UK.OBIE.PAN", panFault],
  ["UK.OBIE.Paym", unless(MOBILE_NUMBER_PATTERN, "Must be a mobile number such as +447700900123.")],
  ["UK.OBIE.Wallet", () => undefined],
]);
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["IBAN", "UK.OBIE.IBAN"],
  ["SortCodeAccountNumber", "UK.OBIE.SortCodeAccountNumber"],
]);

/**
 * The scheme's full name, or undefined for an unknown scheme. Known are those of `UK.OBIE`, two old short
 * names, and any `CC.Name.Value` of another country or issuer.
 */
export function canonicalScheme(schemeName: string): string | undefined {
  const name = ALIASES.get(schemeName) ?? schemeName;
  if (FORMATS.has(name)) return name;
  if (name.length > MAX_SCHEME_CHARACTERS || name.startsWith("UK.OBIE.")) return undefined; // a closed list
  return isCountryCode(EXTENSION.exec(name)?.[1]) ? name : undefined;
}

/**
 * What is wrong with an identification of this scheme, as a sentence for the caller that does not quote the
 * identification; undefined if it fits. An extension scheme sets no format; nothing fits an unknown scheme.
 */
export function identificationFault(schemeName: string, identification: string): string | undefined {
  const scheme = canonicalScheme(schemeName);
  if (scheme === undefined) return "Must be an identification of a supported scheme.";
  return FORMATS.get(scheme)?.(identification);
}

/**
 * Whether both name the same account: the same scheme under either of its names, and the same identification.
 */
export function isSameAccount(a: Account, b: Account): boolean {
  return canonicalScheme(a.schemeName) === canonicalScheme(b.schemeName) &&
    a.identification === b.identification;
}

/** The text without the spaces and hyphens that people group account numbers with, in capitals. */
export function ungrouped(text: string): string {
  return text.replace(/[\s-]/g, "").toUpperCase();
}

/**
 * Whether the text would give an account away: a valid IBAN or a card number with its Luhn digit, however
 * grouped. Card numbers from 12 digits on: in shorter numbers a right Luhn digit is mostly chance.
 */
export function isAccountNumberLike(text: string): boolean {
  const number = ungrouped(text);
  return isIban(number) || (/^[0-9]{12,19}$/.test(number) && hasLuhnDigit(number));
}

function unless(pattern: RegExp, words: string): FindFault {
  return (text) => pattern.test(text) ? undefined : words;
}

function panFault(text: string): string | undefined {
  if (!/^[0-9]{8,19}$/.test(text)) return "Must be a card number: 8 to 19 digits.";
  return hasLuhnDigit(text)
    ? undefined
    : "Must be a card number; its last digit, the check digit, does not fit the rest.";
}

/** ISO/IEC 7812-1 annex B. */
function hasLuhnDigit(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
