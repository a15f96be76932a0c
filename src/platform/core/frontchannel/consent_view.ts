/** Builds the view of the platform's consent screen. */
import type { LanguageLink } from "../../../pages/layout.tsx";
import { type Language, LANGUAGES } from "../../../pages/language.ts";
import type { Site } from "../../../pages/site.ts";
import type { ConsentView } from "../../../pages/consent_page.tsx";
import type { OpenDecision } from "./open_decision.ts";
import { shownFacts } from "./shown_facts.ts";

/** The parameters of the view beside the open decision. */
export interface ViewContext {
  readonly csrf: string;
  /** Address of the page without a language. */
  readonly address: string;
  readonly language: Language;
  readonly site: Site;
  /** Milliseconds. */
  readonly now: number;
  readonly isAccountMissing: boolean;
}

export function consentView(open: OpenDecision, context: ViewContext): ConsentView {
  const { csrf, address, language, site, now, isAccountMissing } = context;
  return {
    ...shownFacts(open),
    csrf,
    action: inLanguage(address, language), // so that the response to the decision has the page's language too
    now,
    isAccountMissing,
    site,
    languageSwitch: switchOf(address),
  };
}

/** The links to a page of a session in each language. */
export function switchOf(address: string): LanguageLink[] {
  return LANGUAGES.map((language) => ({ language, href: inLanguage(address, language) }));
}

export function inLanguage(address: string, language: Language): string {
  return `${address}&lang=${language}`;
}
