/**
 * The frame of every shop page: language, viewport, sandbox notice, landmarks and, if a page needs it, the shop's own
 * script.
 */
import { html } from "hono/html";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { LanguageSwitch } from "../pages/language_switch.tsx";
import { directionOf } from "../../pages/language.ts";
import type { Reader } from "../pages/reader.ts";
import { merchant } from "./catalogue.ts";
import { phrase, words } from "./phrase.ts";

/** A whole page. */
export function ShopLayout(
  { reader, title, script, children }: {
    readonly reader: Reader;
    readonly title: string;
    /** Path of the page's script. */
    readonly script?: string;
    readonly children?: Child;
  },
): JSX.Element {
  const { language } = reader;
  return (
    <html lang={language} dir={directionOf(language)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {/* Phones would turn account numbers into links. */}
        <meta name="format-detection" content="telephone=no" />
        <title>{`${title} - ${merchant.name} (Sandbox)`}</title>
        <link rel="stylesheet" href="/assets/shop.css" />
        <link rel="icon" type="image/svg+xml" href="/assets/shop.svg" />
        {script === undefined ? null : <script src={script} defer></script>}
      </head>
      <body>
        <a class="skip" href="#main">{phrase(language, "frame.skip")}</a>
        <ShopHeader reader={reader} />
        <main id="main" tabindex={-1}>
          {children}
        </main>
        <footer>
          <p>{phrase(language, "frame.byBank")}</p>
        </footer>
      </body>
    </html>
  );
}

function ShopHeader({ reader }: { readonly reader: Reader }): JSX.Element {
  const { language } = reader;
  return (
    <header>
      <p class="sandbox">
        <strong>{phrase(language, "frame.sandbox")}</strong> {phrase(language, "frame.notReal")}
      </p>
      <div class="bar">
        <p class="brand">
          <a href="/">{merchant.name}</a>
        </p>
        <LanguageSwitch reader={reader} label={words(language, "frame.language")} />
      </div>
    </header>
  );
}

/** A page as text, with its doctype. */
export async function renderPage(page: JSX.Element): Promise<string> {
  return String(html`<!DOCTYPE html>${await page}`);
}
