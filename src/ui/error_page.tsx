// deno-lint-ignore-file jsx-key -- precompiled JSX would draw a key as an attribute, and nothing is drawn twice
/**
 * The page for when a customer cannot go on: what happened, whether money moved, what to do, and the number by which
 * support finds the request. Says nothing that a stranger could learn from.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { PageWire } from "../http/refusal_wire.ts";
import { directionOf, type Language, LANGUAGES } from "./language.ts";
import { Layout, renderDocument } from "./layout.tsx";
import { phrase } from "./phrase.ts";

/** What the page shows. */
export interface ErrorView {
  readonly page: PageWire["page"];
  /** `x-fapi-interaction-id` of the request. */
  readonly interactionId: string;
  readonly sandbox: boolean;
}

/** Pages that a customer may also meet after having paid: a flat no would be wrong there. */
const ONCE_DECIDED: ReadonlySet<PageWire["page"]> = new Set(["finished", "link_unusable"]);

/**
 * The page as a whole HTML document; its HTTP status is in the refusal table. It holds every language, the reader's
 * first: what led here (a one-time link, a form) must not be asked for again just to read it in another one.
 */
export function renderErrorPage(view: ErrorView, language: Language): string {
  const title = phrase(language, `error.${view.page}.title`);
  const languages = [language, ...LANGUAGES.filter((other) => other !== language)];
  const languageSwitch = LANGUAGES.map((each) => ({ language: each, href: `#${anchorOf(each)}` }));
  return renderDocument(
    <Layout
      language={language}
      title={title.join("")}
      sandbox={view.sandbox}
      languageSwitch={languageSwitch}
      languagesOnPage
    >
      {languages.map((each) => <Explanation view={view} language={each} first={each === language} />)}
    </Layout>,
  );
}

function Explanation(
  { view: { page, interactionId }, language, first }: {
    readonly view: ErrorView;
    readonly language: Language;
    readonly first: boolean;
  },
): JSX.Element {
  return (
    <article
      class={first ? "card explanation" : "card explanation translation"}
      id={anchorOf(language)}
      lang={language}
      dir={directionOf(language)}
      tabindex={-1}
    >
      <h1>{phrase(language, `error.${page}.title`)}</h1>
      <h2>{phrase(language, "error.happened")}</h2>
      <p>{phrase(language, `error.${page}.happened`)}</p>
      <h2>{phrase(language, "error.money")}</h2>
      <p>{phrase(language, ONCE_DECIDED.has(page) ? "error.nothingAgain" : "error.noMoney")}</p>
      <h2>{phrase(language, "error.todo")}</h2>
      <p>{phrase(language, `error.${page}.todo`)}</p>
      <p class="help">
        {phrase(language, "error.help")} <code dir="ltr">{interactionId}</code>
      </p>
    </article>
  );
}

function anchorOf(language: Language): string {
  return `in-${language}`;
}
