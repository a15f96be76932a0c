/** A consent as the platform's screen shows it: exactly what is stored, in the page's words. */
import type { Consent, Payer } from "../consents/consent.ts";
import { LANGUAGE_NAMES, LANGUAGES } from "../ui/language.ts";
import type { ConsentView } from "../ui/consent_page.tsx";
import type { OpenDecision } from "./decide_consent.ts";
import { cannotPay } from "./interaction.ts";

/** What the page needs beside the open decision. */
export interface ViewContext {
  readonly csrf: string;
  /** Address of the page, to post to and to switch languages on. */
  readonly action: string;
  readonly sandbox: boolean;
  /** Milliseconds. */
  readonly now: number;
}

/** The view of an open decision. */
export function consentView(
  { interaction, consent, tpp, bank }: OpenDecision,
  context: ViewContext,
): ConsentView {
  const { InstructedAmount, CreditorAccount, RemittanceInformation } = consent.request.Data.Initiation;
  return {
    tpp: {
      legalName: tpp.orgName,
      clientId: tpp.clientId,
      role: tpp.role,
      registeredSince: tpp.registeredAt,
    },
    bank: { code: bank.code, name: bank.orgName },
    payee: {
      name: CreditorAccount.Name,
      identification: CreditorAccount.Identification,
      schemeName: CreditorAccount.SchemeName,
    },
    amount: { amount: InstructedAmount.Amount, currency: InstructedAmount.Currency },
    reference: RemittanceInformation?.Reference,
    unstructured: RemittanceInformation?.Unstructured,
    accounts: accountViews(interaction.payer, consent),
    csrf: context.csrf,
    action: context.action,
    expiresAt: Math.min(interaction.expiresAt, consent.authoriseBy),
    now: context.now,
    sandbox: context.sandbox,
    languageSwitch: LANGUAGES.map((language) => ({
      language,
      name: LANGUAGE_NAMES[language],
      href: `${context.action}&lang=${language}`,
    })),
  };
}

function accountViews(payer: Payer | undefined, consent: Consent): ConsentView["accounts"] {
  const paid = consent.request.Data.Initiation.InstructedAmount.Currency;
  return (payer?.accounts ?? []).map((account, index) => {
    const why = cannotPay(account, consent);
    return {
      index,
      schemeName: account.SchemeName,
      identification: account.Identification,
      balance: account.Balance,
      currency: account.Currency ?? paid,
      canPay: why === undefined,
      why,
    };
  });
}
