/** Accounts: their schemes, the form of their identification, and when two are the same. */
import { isCountryCode } from "./iso_countries.ts";

// Account identifications (contract CF20), and the detection of texts that contain one.

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
export function ungroup(text: string): string {
  return text.replace(/[\s-]/g, "").toUpperCase();
}

/**
 * Whether the text is a valid IBAN or a card number with its Luhn digit, with or without grouping. Card numbers have
 * at least 12 digits: in shorter numbers a valid Luhn digit is mostly chance.
 */
export function isAccountNumberLike(text: string): boolean {
  const number = ungroup(text);
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

// The account schemes of a deployment, from `PLATFORM_ACCOUNT_SCHEMES`. `UK.OBIE.IBAN` has a built-in format (contract CF21).
// Other schemes are listed with their format, such as `CO.Redeban.Account=digits:6-20`.

/** Returns the fault of an identification as a sentence for the caller, or undefined if it is valid. */
type FindFault = (identification: string) => string | undefined;

/** The accepted schemes by full name, in the order of the configuration. */
export type AccountSchemes = ReadonlyMap<string, FindFault>;

const MAX_SCHEME_CHARACTERS = 40;
/** ISO 20022 Max34Text: limit of account numbers in schemes without a built-in format. */
const MAX_NUMBER_CHARACTERS = 34;
const MAX_LISTED = 8;
const ENTRY =
  /^([A-Z]{2})\.[A-Za-z0-9][A-Za-z0-9_-]*\.[A-Za-z0-9][A-Za-z0-9_-]*=(digits|alphanumeric):(\d{1,2})-(\d{1,2})$/;

/** Whose accounts are card numbers. A deployment that stores them has the duties of PCI DSS, so it must list the scheme. */
const CARDS = "UK.OBIE.PAN";

/** The Open Banking schemes, which have built-in formats. */
export const OBIE_SCHEMES: AccountSchemes = new Map<string, FindFault>([
  ["UK.OBIE.IBAN", ibanFault],
  ["UK.OBIE.BBAN", unless(/^[A-Za-z0-9]{1,30}$/, "Must be a BBAN: 1 to 30 letters and digits.")],
  [
    "UK.OBIE.SortCodeAccountNumber",
    unless(/^[0-9]{14}$/, "Must be a sort code and account number: 14 digits."),
  ],
  [CARDS, panFault],
  ["UK.OBIE.Paym", unless(MOBILE_NUMBER_PATTERN, "Must be a mobile number such as +447700900123.")],
  [
    "UK.OBIE.Wallet",
    unless(
      /^[A-Za-z0-9.@_+:-]{1,256}$/,
      "Must be a wallet identification: letters, digits and . @ _ + : - without spaces.",
    ),
  ],
]);

/** The schemes of a deployment that lists none. */
export const DEFAULT_SCHEMES: AccountSchemes = new Map([...OBIE_SCHEMES].filter(([name]) => name !== CARDS));

/** Parses a comma-separated list of schemes. Returns undefined if the list is empty or malformed. */
export function readAccountSchemes(list: string): AccountSchemes | undefined {
  const schemes = list.split(",").map((entry) => readEntry(entry.trim()));
  const found = schemes.filter((scheme) => scheme !== undefined);
  return found.length === schemes.length ? new Map(found) : undefined;
}

function readEntry(entry: string): [string, FindFault] | undefined {
  const ownFormat = OBIE_SCHEMES.get(entry);
  if (ownFormat !== undefined) return [entry, ownFormat];
  const [, country, kind, least = "", most = ""] = ENTRY.exec(entry) ?? [];
  const [name = ""] = entry.split("=");
  const isName = isCountryCode(country) && name.length <= MAX_SCHEME_CHARACTERS && !OBIE_SCHEMES.has(name);
  const isRange = Number(least) >= 1 && Number(least) <= Number(most) &&
    Number(most) <= MAX_NUMBER_CHARACTERS;
  if (!isName || !isRange) return undefined;
  const [characters, words] = kind === "digits" ? ["0-9", "digits"] : ["A-Za-z0-9", "letters and digits"];
  const pattern = new RegExp(`^[${characters}]{${Number(least)},${Number(most)}}$`);
  return [name, unless(pattern, `Must have ${Number(least)} to ${Number(most)} ${words}.`)];
}

/** Returns the fault of an account's scheme as a sentence for the caller, or undefined if it is accepted. */
export function schemeFault(schemes: AccountSchemes, schemeName: string): string | undefined {
  if (schemes.has(canonicalScheme(schemeName))) return undefined;
  const listed = [...schemes.keys()].slice(0, MAX_LISTED).join(", ");
  const rest = schemes.size > MAX_LISTED ? " and others" : "";
  const cards = canonicalScheme(schemeName) === CARDS
    ? ` Card numbers are accepted only if PLATFORM_ACCOUNT_SCHEMES of the operator lists ${CARDS}.`
    : "";
  return `Is not a supported account scheme.${cards} Supported are: ${listed}${rest}.`;
}

/**
 * Returns the fault of an identification as a sentence for the caller, or undefined if it is valid. The sentence does
 * not quote the identification.
 */
export function identificationFault(
  schemes: AccountSchemes,
  schemeName: string,
  identification: string,
): string | undefined {
  return schemes.get(canonicalScheme(schemeName))?.(identification);
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

// Checks international bank account numbers (ISO 13616): form, length by country, check digits. The structure of the
// BBAN is not checked.

/** The form alone. Check digits are 02 to 98, because 00, 01 and 99 would be second spellings of 97, 98 and 02. */
const FORM = /^[A-Z]{2}(?!00|01|99)\d{2}[A-Z0-9]{11,30}$/;

/** Length of an IBAN in characters, by country: the IBAN registry (SWIFT, release of 2024-12). */
const LENGTHS = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20
   EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30
   KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23
   PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26
   UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/).map((entry): [string, number] => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Whether the text is an IBAN in electronic form: capitals, no spaces, correct length and check digits. */
export function isIban(text: string): boolean {
  return ibanFault(text) === undefined;
}

/**
 * Returns the fault of an IBAN as a sentence for the caller, or undefined if it is valid. The sentence quotes only
 * the code of a country that has IBANs.
 */
export function ibanFault(text: string): string | undefined {
  const country = text.slice(0, 2);
  const length = LENGTHS.get(country);
  if (!FORM.test(text)) return formFault(text);
  if (length === undefined) return "Must be an IBAN; its first two letters are not a country that has IBANs.";
  if (length !== text.length) return `Must be an IBAN; an IBAN of ${country} has ${length} characters.`;
  if (remainder97(text) === 1) return undefined;
  return "Must be an IBAN; its check digits (the third and fourth character) do not fit the rest.";
}

function formFault(text: string): string {
  if (/[\s\p{P}]/u.test(text)) return "Must be an IBAN without spaces, hyphens or other separators.";
  if (FORM.test(text.toUpperCase())) return "Must be an IBAN in capital letters.";
  return "Must be an IBAN: two letters, two check digits, then 11 to 30 letters and digits.";
}

/** ISO 7064 MOD 97-10 over the rearranged number. Letters count as 10 to 35. */
function remainder97(iban: string): number {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}
