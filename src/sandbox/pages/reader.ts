/**
 * The reader of a sandbox page. Their language is the one that they selected (kept in a cookie), else the first
 * supported one that was passed on with them, else the best of `Accept-Language`, else English.
 */
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { chooseLanguage, isLanguage, type Language } from "../../pages/language.ts";

/** The reader for whom a page is rendered. */
export interface Reader {
  readonly language: Language;
  /** Path of the page in other languages; absent if the page has only one. */
  readonly path?: string;
}

const YEAR_SECONDS = 31_536_000;

/**
 * The reader of this request. A language selected by `?lang=` is stored for this host's later pages.
 *
 * @param passedOn language tags that came with the reader, best first
 */
export function readerOf(c: Context, cookieName: string, passedOn: readonly string[] = []): Reader {
  // A path that starts with two slashes would be read as another host.
  const path = new URL(c.req.url).pathname.replace(/^\/+/, "/");
  const selected = c.req.query("lang");
  if (isLanguage(selected)) {
    // Not a secret, and some browsers reject Secure cookies on plain-http localhost.
    setCookie(c, cookieName, selected, { path: "/", httpOnly: true, sameSite: "Lax", maxAge: YEAR_SECONDS });
    return { language: selected, path };
  }
  const language = chooseLanguage(c.req.header("accept-language"), getCookie(c, cookieName), passedOn);
  return { language, path };
}
