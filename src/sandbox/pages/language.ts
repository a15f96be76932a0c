/**
 * Chooses the language of a sandbox page: the one that the reader selected (stored in a cookie), else the first
 * supported one that was passed on with the reader, else the best of `Accept-Language`, else English.
 */
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { getCookie, setCookie } from "hono/cookie";

/** The languages with a catalogue. */
export const LANGUAGES = ["en", "es", "fr", "ar"] as const;
/** One of {@link LANGUAGES}. */
export type Language = typeof LANGUAGES[number];

/** The name of each language in that language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: "English",
  es: "Español",
  fr: "Français",
  ar: "العربية",
};

/** The reader for whom a page is rendered. */
export interface Reader {
  readonly language: Language;
  /** Path of the page in other languages; absent if the page has only one. */
  readonly path?: string;
}

const FALLBACK: Language = "en";
const YEAR_SECONDS = 31_536_000;

/**
 * The reader of this request. A language selected by `?lang=` is stored for this host's later pages.
 *
 * @param passedOn language tags that came with the reader, best first
 */
export function readerOf(c: Context, cookieName: string, passedOn: readonly string[] = []): Reader {
  // A path that starts with two slashes would be read as another host.
  const path = new URL(c.req.url).pathname.replace(/^\/+/, "/");
  const chosen = c.req.query("lang");
  if (isLanguage(chosen)) {
    // Not a secret, and some browsers reject Secure cookies on plain-http localhost.
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

/** The first of these tags with a catalogue; es-CO is served by es (RFC 4647 §3.4). */
function served(tags: readonly string[]): Language | undefined {
  return tags.map((tag) => tag.split("-")[0]?.toLowerCase()).find(isLanguage);
}

function isLanguage(value: string | undefined): value is Language {
  return LANGUAGES.some((language) => language === value);
}
