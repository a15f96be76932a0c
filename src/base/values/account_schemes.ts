/**
 * The account schemes of a deployment, from `PLATFORM_ACCOUNT_SCHEMES`. `UK.OBIE.IBAN` has a built-in format (contract CF21).
 * Other schemes are listed with their format, such as `CO.Redeban.Account=digits:6-20`.
 */
import { canonicalScheme, hasLuhnDigit, MOBILE_NUMBER_PATTERN } from "./account.ts";
import { ibanFault } from "./iban.ts";
import { isCountryCode } from "./iso_countries.ts";

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
