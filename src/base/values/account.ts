/** Account identifications (contract CF20), and the detection of texts that contain one. */
import { isIban } from "./iban.ts";

/** An account as its holder or its bank names it. The strings are stored unchanged. */
export interface Account {
  readonly schemeName: string;
  readonly identification: string;
  readonly name?: string | undefined;
  readonly secondaryIdentification?: string | undefined;
}

/** A mobile number: E.164, or ISO 20022 PhoneNumber (contract CF15). */
export const MOBILE_NUMBER_PATTERN = /^(\+?[0-9]{7,15}|\+[0-9]{1,3}-[0-9()+-]{1,30})$/;

const ALIASES: ReadonlyMap<string, string> = new Map([
  ["IBAN", "UK.OBIE.IBAN"],
  ["SortCodeAccountNumber", "UK.OBIE.SortCodeAccountNumber"],
]);

/** Returns the scheme's full name. Two schemes also have an old short name. */
export function canonicalScheme(schemeName: string): string {
  return ALIASES.get(schemeName) ?? schemeName;
}

/** Whether both have the same scheme, under either of its names, and the same numbers. */
export function isSameAccount(a: Account, b: Account): boolean {
  return canonicalScheme(a.schemeName) === canonicalScheme(b.schemeName) &&
    a.identification === b.identification && a.secondaryIdentification === b.secondaryIdentification;
}

/** Returns the text in capitals without the spaces and hyphens that group account numbers. */
export function ungrouped(text: string): string {
  return text.replace(/[\s-]/g, "").toUpperCase();
}

/**
 * Whether the text is a valid IBAN or a card number with its Luhn digit, with or without grouping. Card numbers have
 * at least 12 digits: in shorter numbers a valid Luhn digit is mostly chance.
 */
export function isAccountNumberLike(text: string): boolean {
  const number = ungrouped(text);
  return isIban(number) || (/^[0-9]{12,19}$/.test(number) && hasLuhnDigit(number));
}

/** Whether the last digit is the check digit of the others (ISO/IEC 7812-1 annex B). */
export function hasLuhnDigit(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
