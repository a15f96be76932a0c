/**
 * Builds the view of the platform's consent screen from stored data. The shown facts do not change from the bank's
 * return to the decision, so the hash taken at the decision is that of the page that the customer read.
 */
import type { Consent, PayerAccount } from "../consents/consent.ts";
import { fingerprint } from "../idempotency/fingerprint.ts";
import type { ShownPage } from "../audit_trail.ts";
import { type Language, LANGUAGE_NAMES, LANGUAGES } from "../../pages/language.ts";
import type { ConsentFacts } from "../../pages/consent_facts.tsx";
import type { Site } from "../../pages/site.ts";
import type { ConsentView } from "../../pages/consent_page.tsx";
import type { OpenDecision } from "./decide_consent.ts";
import { accountNotice, canPay } from "./authorization_session.ts";

/** The parameters of the view beside the open decision. */
export interface ViewContext {
  readonly csrf: string;
  /** Address of the page without a language. */
  readonly address: string;
  readonly language: Language;
  readonly site: Site;
  /** Milliseconds. */
  readonly now: number;
}

export function consentView(open: OpenDecision, context: ViewContext): ConsentView {
  const { csrf, address, language, site, now } = context;
  return {
    ...factsOf(open),
    csrf,
    action: inLanguage(address, language), // so that the response to the decision has the page's language too
    now,
    site,
    languageSwitch: LANGUAGES.map((other) => ({
      language: other,
      name: LANGUAGE_NAMES[other],
      href: inLanguage(address, other),
    })),
  };
}

/**
 * Returns the hash of the facts on which the customer decides, for the consent's history: SHA-256 over the RFC 8785
 * form of `{language, …facts}`, with the members of {@link ConsentFacts}. The HTML is not hashed,
 * because markup, words and the minutes left are not part of the agreement. The facts can be reproduced from the
 * consent and the registrations and compared.
 */
export async function shownPage(open: OpenDecision, language: Language): Promise<ShownPage> {
  return { language, sha256: await fingerprint({ language, ...factsOf(open) }) };
}

function factsOf({ interaction, consent, parties, accounts }: OpenDecision): ConsentFacts {
  const { InstructedAmount, CreditorAccount, RemittanceInformation } = consent.request.Data.Initiation;
  return {
    ...parties,
    payee: {
      name: CreditorAccount.Name,
      identification: CreditorAccount.Identification,
      schemeName: CreditorAccount.SchemeName,
    },
    amount: { amount: InstructedAmount.Amount, currency: InstructedAmount.Currency },
    reference: RemittanceInformation?.Reference,
    unstructured: RemittanceInformation?.Unstructured,
    accounts: accountViews(accounts, consent),
    expiresAt: Math.min(interaction.expiresAt, consent.authoriseBy),
  };
}

function accountViews(accounts: readonly PayerAccount[], consent: Consent): ConsentFacts["accounts"] {
  const paid = consent.request.Data.Initiation.InstructedAmount.Currency;
  return accounts.map((account, index) => ({
    index,
    schemeName: account.SchemeName,
    identification: account.Identification,
    balance: account.Balance,
    currency: account.Currency ?? paid,
    canPay: canPay(account, consent),
    why: accountNotice(account, consent),
  }));
}

function inLanguage(address: string, language: Language): string {
  return `${address}&lang=${language}`;
}
