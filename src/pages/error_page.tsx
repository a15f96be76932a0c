/**
 * The page for a customer who cannot continue: what happened, whether money moved, what to do, and the id by which
 * support finds the request. Reveals no information that is useful to an attacker.
 */
import type { Language } from "./language.ts";
import { renderDocument } from "./html_document.tsx";
import { type LanguageLink, Layout } from "./layout.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase, words } from "./phrase.ts";
import type { Site } from "./site.ts";

/** The pages that tell a person why it does not go on; their words are in the message catalogues. */
export const ERROR_PAGES = [
  "link_unusable",
  "shop_inactive",
  "finished",
  "accepted",
  "refused",
  "other_browser",
  "not_authentic",
  "not_found",
  "wrong_method",
  "unavailable",
  "too_large",
] as const;
/** One of {@link ERROR_PAGES}. */
export type ErrorPageName = typeof ERROR_PAGES[number];

/** The contents of the page. */
export interface ErrorView {
  readonly page: ErrorPageName;
  /** `x-fapi-interaction-id` of the request. */
  readonly interactionId: string;
  /** The URL of the shop or app: with the response for it, or its web page. */
  readonly nextUrl?: string | undefined;
  /** Whose shop or app it is, if that is known. */
  readonly tppName?: string | undefined;
  /** For the developer of the shop or app, in English: what is wrong with the link. */
  readonly fault?: string | undefined;
  readonly site: Site;
  readonly languageSwitch: readonly LanguageLink[];
}

/** Pages that a customer may also meet after having paid: a flat no would be wrong there. */
const ONCE_DECIDED: ReadonlySet<ErrorPageName> = new Set(["finished", "accepted", "link_unusable"]);

/** The page as a whole HTML document; its HTTP status is in the error table. */
export function renderErrorPage(view: ErrorView, language: Language): string {
  const { page, interactionId, nextUrl, tppName, fault, site, languageSwitch } = view;
  const title = words(language, `error.${page}.title`);
  return renderDocument(
    <Layout language={language} title={title} site={site} languageSwitch={languageSwitch}>
      <article class="card">
        <h1>{title}</h1>
        <h2>{phrase(language, "error.happened")}</h2>
        <p>{phrase(language, `error.${page}.happened`)}</p>
        <h2>{phrase(language, "error.money")}</h2>
        <p>{phrase(language, ONCE_DECIDED.has(page) ? "error.nothingAgain" : "error.noMoney")}</p>
        <h2>{phrase(language, "error.todo")}</h2>
        <p>{phrase(language, `error.${page}.todo`)}</p>
        {nextUrl === undefined ? null : (
          <p>
            <a class="button" href={nextUrl}>
              <span>
                {tppName === undefined
                  ? phrase(language, "error.backToTpp")
                  : phrase(language, "layout.backTo", { tpp: <ParticipantText text={tppName} /> })}
              </span>
            </a>
          </p>
        )}
        <p class="help">
          {phrase(language, "error.help")} <code dir="ltr">{interactionId}</code>
        </p>
        {fault === undefined ? null : (
          <p class="help">
            {phrase(language, "error.developer")} <code dir="ltr" lang="en">{fault}</code>
          </p>
        )}
      </article>
    </Layout>,
  );
}
