/**
 * The frame of every shop page: language, viewport, sandbox notice, landmarks and, if a page needs it, the shop's own
 * script.
 */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { LanguageSwitch } from "../pages/language_switch.tsx";
import { HtmlDocument } from "../../pages/html_document.tsx";
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
    <HtmlDocument
      language={language}
      title={`${title} - ${merchant.name} (Sandbox)`}
      stylesheet="/assets/shop.css"
      icon="/assets/shop.svg"
      isIndexed
      script={script}
      skip={phrase(language, "frame.skip")}
      header={<ShopHeader reader={reader} />}
      footer={
        <footer>
          <p>{phrase(language, "frame.byBank")}</p>
        </footer>
      }
    >
      {children}
    </HtmlDocument>
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

/** The kinds of notices. */
export type Notice = "failed" | "origin" | "cookies" | "choice" | "stray" | "not_found" | "too_long";

/**
 * A page with one sentence for a request that was not found, was rejected or failed. It does not reveal why a request was
 * rejected.
 */
export function NoticePage(
  { reader, notice }: { readonly reader: Reader; readonly notice: Notice },
): JSX.Element {
  const { language } = reader;
  const title = words(language, `notice.${notice}.title`);
  return (
    <ShopLayout reader={reader} title={title}>
      <h1>{title}</h1>
      <p>{phrase(language, `notice.${notice}.text`)}</p>
      <ul class="links">
        <li>
          <a href="/" class="button">{phrase(language, "order.back")}</a>
        </li>
      </ul>
    </ShopLayout>
  );
}
