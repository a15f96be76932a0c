/**
 * Amounts, dates, times and durations as the reader writes them. Amounts keep every digit they came with: the
 * decimal string goes to `Intl` as it is, never through a number.
 */
import { type Language, LOCALES } from "./language.ts";

/** Symbols such as `UK£` fall apart between Arabic words and digits; the currency's name does not. */
const CURRENCY_DISPLAY: Readonly<Record<Language, "symbol" | "name">> = {
  en: "symbol",
  es: "symbol",
  fr: "symbol",
  ar: "name",
};
const MINUTE_MS = 60_000;
/** Of each kind: banks may name any currency. */
const MAX_KEPT_FORMATTERS = 200;

const usualDigits = memoise((currency: string) =>
  new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().minimumFractionDigits ?? 0
);
const moneyFormat = memoise((language: Language, currency: string, digits: number) =>
  new Intl.NumberFormat(LOCALES[language], {
    style: "currency",
    currency,
    currencyDisplay: CURRENCY_DISPLAY[language],
    minimumFractionDigits: digits,
    maximumFractionDigits: digits, // else 12.50 JPY would be shown as 13
  })
);
const dayFormat = memoise((language: Language) =>
  new Intl.DateTimeFormat(LOCALES[language], { dateStyle: "long", timeZone: "UTC" })
);
const timeFormat = memoise((language: Language, timeZone: string) =>
  new Intl.DateTimeFormat(LOCALES[language], {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone,
    timeZoneName: timeZone === "UTC" ? "short" : "long", // short names of others are offsets or unknown letters
  })
);
const instantFormat = memoise((language: Language) =>
  new Intl.DateTimeFormat(LOCALES[language], {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: "UTC",
    timeZoneName: "short",
  })
);
const momentFormat = memoise((language: Language, precision: "second" | "millisecond") =>
  new Intl.DateTimeFormat(LOCALES[language], {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    ...(precision === "second" ? {} : { fractionalSecondDigits: 3 }),
    hourCycle: "h23",
    timeZone: "UTC",
    timeZoneName: "short",
  })
);
const SPAN_UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", MINUTE_MS]] as const;
const spanFormat = memoise((language: Language, unit: "day" | "hour" | "minute" | "second") =>
  new Intl.NumberFormat(LOCALES[language], {
    style: "unit",
    unit,
    unitDisplay: "narrow",
    maximumFractionDigits: unit === "second" ? 3 : 1,
  })
);
const durationFormat = memoise((language: Language, unit: "minute" | "second") =>
  new Intl.NumberFormat(LOCALES[language], { style: "unit", unit, unitDisplay: "long" })
);

/** An amount or balance, `12.50` and `EUR`, as `€12.50`. What is neither a decimal nor a code is shown as it is. */
export function formatMoney(language: Language, amount: string, currency: string): string {
  if (!isDecimal(amount) || !/^[A-Z]{3}$/.test(currency)) return `${amount} ${currency}`;
  const digits = Math.max(fractionDigits(amount), usualDigits(currency));
  return moneyFormat(language, currency, digits).format(amount);
}

/** A day, `12 March 2024`, of an instant in milliseconds since the Unix epoch. UTC. */
export function formatDay(language: Language, instant: number): string {
  return dayFormat(language).format(instant);
}

/** A time with the name of its zone, `14:05 UTC`, of an instant in milliseconds. The reader's own zone is not known. */
export function formatTime(language: Language, instant: number, timeZone: string): string {
  return timeFormat(language, timeZone).format(instant);
}

/** Day and time, `12 March 2024 at 14:05 UTC`, of an instant in milliseconds. UTC. */
export function formatInstant(language: Language, instant: number): string {
  return instantFormat(language).format(instant);
}

/** A time with milliseconds, `14:05:03.270 UTC`, of an instant in milliseconds. */
export function formatMoment(language: Language, instant: number): string {
  return momentFormat(language, "millisecond").format(instant);
}

/** A time with seconds, `14:05:03 UTC`, of an instant in milliseconds. */
export function formatSecond(language: Language, instant: number): string {
  return momentFormat(language, "second").format(instant);
}

/** A length of time in its largest unit, `0.27s` or `3.5h`, of milliseconds. */
export function formatSpan(language: Language, milliseconds: number): string {
  const [unit, size] = SPAN_UNITS.find(([, size]) => milliseconds >= size) ?? ["second", 1000];
  return spanFormat(language, unit).format(milliseconds / size);
}

/** The time left in whole minutes, rounded down so as not to promise too much; in seconds below one minute. */
export function formatDuration(language: Language, milliseconds: number): string {
  const left = Math.max(0, milliseconds);
  return left >= MINUTE_MS
    ? durationFormat(language, "minute").format(Math.floor(left / MINUTE_MS))
    : durationFormat(language, "second").format(Math.floor(left / 1000));
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d{1,20}(\.\d{1,10})?$/.test(text);
}

function fractionDigits(decimal: string): number {
  return decimal.split(".")[1]?.length ?? 0;
}

/** Keeps what was made for these arguments: to make a formatter takes a hundred times as long as to use it. */
function memoise<Arguments extends readonly (string | number)[], Made>(
  make: (...given: Arguments) => Made,
): (...given: Arguments) => Made {
  const kept = new Map<string, Made>();
  return (...given) => {
    const name = given.join(" ");
    const known = kept.get(name);
    if (known !== undefined) return known;
    if (kept.size >= MAX_KEPT_FORMATTERS) kept.clear();
    const made = make(...given);
    kept.set(name, made);
    return made;
  };
}
