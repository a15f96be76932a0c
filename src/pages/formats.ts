/**
 * Amounts, dates, times and durations as the reader writes them. Amounts keep every digit they came with: the
 * decimal string goes to `Intl` as it is, never through a number.
 */
import type { Language } from "./language.ts";

/** The variety used for formatting: day before month, and digits that match those of account numbers. */
const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", es: "es", fr: "fr", ar: "ar-u-nu-latn" };
/** Symbols such as `UK£` fall apart between Arabic words and digits; the currency's name does not. */
const CURRENCY_DISPLAY: Readonly<Record<Language, "symbol" | "name">> = {
  en: "symbol",
  es: "symbol",
  fr: "symbol",
  ar: "name",
};
const MINUTE_MS = 60_000;

/** An amount or balance, `12.50` and `EUR`, as `€12.50`. What is neither a decimal nor a code is shown as it is. */
export function formatMoney(language: Language, amount: string, currency: string): string {
  if (!isDecimal(amount) || !/^[A-Z]{3}$/.test(currency)) return `${amount} ${currency}`;
  const locale = LOCALES[language];
  const usual = new Intl.NumberFormat(locale, { style: "currency", currency }).resolvedOptions();
  const digits = Math.max(fractionDigits(amount), usual.minimumFractionDigits ?? 0);
  return new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    currencyDisplay: CURRENCY_DISPLAY[language],
    minimumFractionDigits: digits,
    maximumFractionDigits: digits, // else 12.50 JPY would be shown as 13
  }).format(amount);
}

/** A day, `12 March 2024`, of an instant in milliseconds since the Unix epoch. UTC. */
export function formatDay(language: Language, instant: number): string {
  return new Intl.DateTimeFormat(LOCALES[language], { dateStyle: "long", timeZone: "UTC" }).format(instant);
}

/** A time with the name of its zone, `14:05 UTC`, of an instant in milliseconds. The reader's own zone is not known. */
export function formatTime(language: Language, instant: number, timeZone: string): string {
  return new Intl.DateTimeFormat(LOCALES[language], {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone,
    timeZoneName: timeZone === "UTC" ? "short" : "long", // short names of others are offsets or unknown letters
  }).format(instant);
}

/** The time left in whole minutes, rounded down so as not to promise too much; in seconds below one minute. */
export function formatDuration(language: Language, milliseconds: number): string {
  const left = Math.max(0, milliseconds);
  const [amount, unit] = left >= MINUTE_MS
    ? [Math.floor(left / MINUTE_MS), "minute"]
    : [Math.floor(left / 1000), "second"];
  return new Intl.NumberFormat(LOCALES[language], { style: "unit", unit, unitDisplay: "long" }).format(
    amount,
  );
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d{1,20}(\.\d{1,10})?$/.test(text);
}

function fractionDigits(decimal: string): number {
  return decimal.split(".")[1]?.length ?? 0;
}
