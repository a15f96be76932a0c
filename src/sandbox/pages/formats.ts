/**
 * Formats amounts, instants and account numbers in the reader's locale. Amounts are passed to `Intl` as decimal
 * strings, never as numbers.
 */
import type { Language } from "./language.ts";

/** These locales use the same digits as account numbers. */
const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", es: "es", fr: "fr", ar: "ar-u-nu-latn" };

/** `12.50` and `EUR` as `€12.50`. Other values are returned unchanged. */
export function amountText(language: Language, amount: string, currency: string): string {
  if (!isDecimal(amount) || !/^[A-Z]{3}$/.test(currency)) return `${amount} ${currency}`;
  return new Intl.NumberFormat(LOCALES[language], {
    style: "currency",
    currency,
    // Currency symbols are misplaced between Arabic words and digits; the currency's name is not.
    currencyDisplay: language === "ar" ? "name" : "symbol",
    useGrouping: true,
    minimumFractionDigits: amount.split(".")[1]?.length ?? 0,
  }).format(amount);
}

/** A date-time of the wire as UTC with its time zone named. Any other text is returned unchanged. */
export function instantText(language: Language, text: string): string {
  const instant = Date.parse(text);
  if (Number.isNaN(instant)) return text;
  return new Intl.DateTimeFormat(LOCALES[language], {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: "UTC",
    timeZoneName: "short",
  }).format(instant);
}

/** An account number in groups of four, as IBANs are printed. */
export function groupedIban(identification: string): string {
  return identification.replace(/(.{4})(?=.)/g, "$1 ");
}

/** The plural form that the language uses for this count. */
export function pluralOf(language: Language, count: number): Intl.LDMLPluralRule {
  return new Intl.PluralRules(LOCALES[language]).select(count);
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d{1,20}(\.\d{1,10})?$/.test(text);
}
