/**
 * The languages of the pages: which one a reader gets (RFC 9110 §12.5.4), its direction and its formatting locale.
 * Words are in the message catalogues.
 */

/** The languages there is a catalogue for, in order of preference where the reader has none. */
export const LANGUAGES = ["en", "es", "fr", "ar"] as const;
/** One of {@link LANGUAGES}. */
export type Language = typeof LANGUAGES[number];

/** The name of each language in that language, so that every reader can find their own. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: "English",
  es: "Español",
  fr: "Français",
  ar: "العربية",
};

/** The locale used for formatting: day before month, and digits that match those of account numbers. */
export const LOCALES: Readonly<Record<Language, string>> = {
  en: "en-GB",
  es: "es",
  fr: "fr",
  ar: "ar-u-nu-latn",
};

const FALLBACK: Language = "en";
/** Bounds the work for a hostile header; real ones have under 200 characters. */
const MAX_HEADER_CHARACTERS = 1000;
const RANGE = /^([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9]{1,8})*$/;
const QUALITY = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

interface WeightedRange {
  readonly primary: string;
  readonly quality: number;
}

/** RFC 4647 §3.4: a tag of a region (es-CO) is served by its language. */
function primaryOf(tag: string): string | undefined {
  return tag.split("-")[0]?.toLowerCase();
}

/** Whether the value is one of the platform's languages. */
export function isLanguage(value: string | undefined): value is Language {
  return LANGUAGES.some((language) => language === value);
}

/** The direction the language is written in, for the `dir` attribute. */
export function directionOf(language: Language): "ltr" | "rtl" {
  return language === "ar" ? "rtl" : "ltr";
}

/** Returns the first of `uiLocales` that there is a catalogue for. */
export function languageAsked(uiLocales: readonly string[]): Language | undefined {
  return uiLocales.map(primaryOf).find(isLanguage);
}

/**
 * The reader's language: the one chosen on the page, else the first of `uiLocales` that there is a catalogue for, else
 * the best of `Accept-Language`, else English. Faulty parts of the header are ignored.
 */
export function chooseLanguage(
  acceptLanguage: string | undefined,
  chosen: string | undefined,
  uiLocales: readonly string[] = [],
): Language {
  if (isLanguage(chosen)) return chosen;
  const asked = languageAsked(uiLocales);
  if (asked !== undefined) return asked;
  const ranges = rangesOf(acceptLanguage ?? "");
  let best = FALLBACK;
  let bestQuality = 0;
  for (const language of inReadersOrder(ranges)) {
    const quality = qualityOf(language, ranges);
    if (quality > bestQuality) [best, bestQuality] = [language, quality];
  }
  return best;
}

/** Equal qualities are settled by the order in the header, which is how people who leave out `q` mean it. */
function inReadersOrder(ranges: readonly WeightedRange[]): readonly Language[] {
  const named = ranges.map(({ primary }) => primary).filter(isLanguage);
  return [...new Set([...named, ...LANGUAGES])];
}

// RFC 4647 §3.4: a range of a region (es-CO) is served by its language; `*` is for those not named (RFC 4647 §3.3.1).
function qualityOf(language: Language, ranges: readonly WeightedRange[]): number {
  const named = ranges.filter(({ primary }) => primary === language);
  const matching = named.length > 0 ? named : ranges.filter(({ primary }) => primary === "*");
  return Math.max(0, ...matching.map(({ quality }) => quality));
}

function rangesOf(header: string): WeightedRange[] {
  return header.slice(0, MAX_HEADER_CHARACTERS).split(",").flatMap((element) => {
    const [range = "", ...parameters] = element.split(";").map((part) => part.trim());
    const primary = RANGE.exec(range)?.[1]?.toLowerCase();
    const quality = parameters.length === 0 ? "1" : QUALITY.exec(parameters[0] ?? "")?.[1];
    return primary === undefined || quality === undefined ? [] : [{ primary, quality: Number(quality) }];
  });
}
