/**
 * Which language a reader of the sandbox's pages gets: the one chosen on the page, kept in a cookie, else the first that
 * was passed on with the reader, else the best of `Accept-Language`, else English. Holds no words but the languages' own names.
 */
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { getCookie, setCookie } from "hono/cookie";

/** The languages there is a catalogue for. */
export const LANGUAGES = ["en", "es", "fr", "ar"] as const;
/** One of {@link LANGUAGES}. */
export type Language = typeof LANGUAGES[number];

/** What each language calls itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: "English",
  es: "Español",
  fr: "Français",
  ar: "العربية",
};

/** Whom a page is drawn for. */
export interface Reader {
  readonly language: Language;
  /** Path of the page, where it is to be had in another language; absent where there is but one. */
  readonly path?: string;
}

const FALLBACK: Language = "en";
const YEAR_SECONDS = 31_536_000;

/**
 * The reader of this request. A language chosen by `?lang=` is remembered for this host's later pages.
 *
 * @param passedOn language tags that came with the reader, best first
 */
export function readerOf(c: Context, cookieName: string, passedOn: readonly string[] = []): Reader {
  // Two slashes in front would make another host of it.
  const path = new URL(c.req.url).pathname.replace(/^\/+/, "/");
  const chosen = c.req.query("lang");
  if (isLanguage(chosen)) {
    // Nothing secret, and on plain-http localhost not every browser takes Secure.
    setCookie(c, cookieName, chosen, { path: "/", httpOnly: true, sameSite: "Lax", maxAge: YEAR_SECONDS });
    return { language: chosen, path };
  }
  const remembered = getCookie(c, cookieName);
  return { language: isLanguage(remembered) ? remembered : served(passedOn) ?? preferred(c), path };
}

/** The direction the language is written in. */
export function directionOf(language: Language): "ltr" | "rtl" {
  return language === "ar" ? "rtl" : "ltr";
}

function preferred(c: Context): Language {
  const best = accepts(c, {
    header: "Accept-Language",
    supports: [...LANGUAGES],
    default: FALLBACK,
    match: (ranges) =>
      served(ranges.filter(({ q }) => q > 0).toSorted((a, b) => b.q - a.q).map(({ type }) => type)) ??
        FALLBACK,
  });
  return isLanguage(best) ? best : FALLBACK;
}

/** The first of these tags that there is a catalogue for; es-CO is served by es (RFC 4647 §3.4). */
function served(tags: readonly string[]): Language | undefined {
  return tags.map((tag) => tag.split("-")[0]?.toLowerCase()).find(isLanguage);
}

function isLanguage(value: string | undefined): value is Language {
  return LANGUAGES.some((language) => language === value);
}
