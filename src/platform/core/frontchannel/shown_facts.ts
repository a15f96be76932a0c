/**
 * The facts that the platform's consent screen shows, and their hash for the consent's history. They do not change from
 * the bank's return to the decision, so the hash taken at the decision is that of the page that the customer read.
 */
import type { Parties } from "../../../base/values/parties.ts";
import type { PayerAccount, ReadableConsent } from "../consents/consent.ts";
import type { InstructedAmount } from "../consents/initiation.ts";
import { accountNotice, canPay } from "./authorization_session.ts";
import type { OpenDecision } from "./open_decision.ts";

/** One of the payer's accounts as the screen offers it. */
export interface ShownAccount {
  /** The value that the form posts. */
  readonly index: number;
  readonly schemeName: string;
  readonly identification: string;
  readonly secondaryIdentification?: string;
  readonly balance: string | undefined;
  readonly currency: string;
  readonly canPay: boolean;
  readonly why: "insufficient_funds" | "other_currency" | undefined;
}

/** Stored hashes cover exactly these members, the accounts by digest, so none may be renamed or removed. */
export interface ShownFacts extends Parties {
  readonly payee: { readonly name: string; readonly identification: string; readonly schemeName: string };
  readonly amount: InstructedAmount;
  readonly reference: string | undefined;
  readonly unstructured: string | undefined;
  readonly accounts: readonly ShownAccount[];
  /** Until when the customer can decide, milliseconds. */
  readonly expiresAt: number;
}

export function shownFacts({ session, consent, parties, accounts }: OpenDecision): ShownFacts {
  const { instructedAmount, creditorAccount, remittanceInformation } = consent.request.initiation;
  return {
    ...parties,
    payee: {
      name: creditorAccount.name,
      identification: creditorAccount.identification,
      schemeName: creditorAccount.schemeName,
    },
    amount: instructedAmount,
    reference: remittanceInformation?.reference,
    unstructured: remittanceInformation?.unstructured,
    accounts: accounts.map((account, index) => shownAccount(account, index, consent)),
    expiresAt: Math.min(session.expiresAt, consent.authoriseBy),
  };
}

function shownAccount(account: PayerAccount, index: number, consent: ReadableConsent): ShownAccount {
  return {
    index,
    schemeName: account.schemeName,
    identification: account.identification,
    ...(account.secondaryIdentification === undefined
      ? {}
      : { secondaryIdentification: account.secondaryIdentification }),
    balance: account.balance,
    currency: account.currency ?? consent.request.initiation.instructedAmount.currency,
    canPay: canPay(account, consent),
    why: accountNotice(account, consent),
  };
}
