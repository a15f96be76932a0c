/** Builds the view of the platform's consent screen. */
import { type Language, LANGUAGE_NAMES, LANGUAGES } from "../../../pages/language.ts";
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
    languageSwitch: LANGUAGES.map((other) => ({
      language: other,
      name: LANGUAGE_NAMES[other],
      href: inLanguage(address, other),
    })),
  };
}

function inLanguage(address: string, language: Language): string {
  return `${address}&lang=${language}`;
}
