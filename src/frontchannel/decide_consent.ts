/** The platform's consent screen: what it shows, and the customer's decision (explicit consent, table 2.1 C7, C9). */
import type { Consent, PayerAccount } from "../consents/consent.ts";
import { payerAccountsAhead, payerAccountsOf } from "../consents/payer_accounts_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import { type BankCode, isUuid } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { BankClient } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import { bankKey, consentKey, interactionKey, pushedRequestKey } from "../store/keys.ts";
import type { StandingOf } from "../security/standing.ts";
import type { ReadAhead } from "../store/read_ahead.ts";
import type { Reader } from "../store/store.ts";
import { newMarkers } from "../store/transaction.ts";
import { type AskingBrowser, recentOutcome } from "./asking_browser.ts";
import { type EndDeps, endInteraction, type Traces } from "./end_interaction.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import { type Interaction, type Parties, stepAfterDecision } from "./interaction.ts";

/** What it needs. */
export interface DecideDeps extends EndDeps {
  readonly clients: ClientStore;
  readonly standingOf: StandingOf;
}

/** An interaction of this browser that waits for a decision. */
export interface OpenDecision {
  readonly bank: BankClient;
  readonly interaction: Interaction;
  readonly consent: Consent;
  readonly parties: Parties;
  /** What the customer chooses from. */
  readonly accounts: readonly PayerAccount[];
}

/** The customer's decision. */
export interface Decision {
  readonly accepted: boolean;
  /** Which of the payer's accounts. */
  readonly accountIndex: number | undefined;
}

/** What the screen shows. @throws {Refusal} `bank.unknown`, `interaction.*`, `authorization.invalid_request` */
export async function openDecision(
  deps: DecideDeps,
  bankCode: BankCode,
  correlationId: string | undefined,
  { browser, reads }: { readonly browser: AskingBrowser; readonly reads: ReadAhead },
): Promise<OpenDecision> {
  const flow = isUuid(correlationId) ? correlationId : undefined;
  reads.ahead([bankKey(bankCode), ...(flow === undefined ? [] : [interactionKey(flow)])]);
  const bank = await deps.clients.findBank(bankCode, reads);
  if (bank === null) throw new Refusal("bank.unknown");
  const entry = flow === undefined ? null : await deps.interactions.find(flow, reads);
  if (entry === null || entry.value.bank !== bankCode) throw new Refusal("authorization.invalid_request");
  const interaction = entry.value;
  if (!await browser.holds(interaction)) throw new Refusal("interaction.not_yours");
  const { stage, parties, payer } = interaction;
  if (
    stage !== "deciding" || parties === undefined || payer === undefined ||
    deps.clock() >= interaction.expiresAt
  ) {
    throw new Refusal("interaction.finished");
  }
  const { requestHash, consentId } = interaction;
  reads.ahead([
    pushedRequestKey(requestHash),
    consentKey(consentId),
    ...payerAccountsAhead(consentId, payer),
  ]);
  const { value: consent } = await readConsent(deps, consentId, interaction, reads);
  return { bank, interaction, consent, parties, accounts: await payerAccountsOf(reads, consentId, payer) };
}

/**
 * Ends an interaction that there is nothing to decide about any more: its consent's deadline has passed, or another
 * flow has decided it. Says where the browser goes; null where the customer can still decide.
 */
export async function endOverdue(
  deps: DecideDeps,
  open: OpenDecision,
  browser: AskingBrowser,
): Promise<string | null> {
  if (open.consent.status === "AwaitingAuthorisation") return null;
  return await endInteraction(deps, open.interaction.correlationId, newMarkers(), () => "stay", { browser });
}

/** Carries the decision out and says where the browser goes. @throws {Refusal} as {@link openDecision} */
export async function decideConsent(
  deps: DecideDeps,
  open: OpenDecision,
  decision: Decision,
  traces: Traces & { readonly reads: Reader },
): Promise<string> {
  const wayOut = decision.accepted
    ? await wayOutOfInactive(deps, open.bank, open.interaction, traces.reads)
    : null; // a refusal stands
  if (wayOut !== null) return wayOut;
  const url = await endInteraction(deps, open.interaction.correlationId, newMarkers(), (consent) => {
    const step = stepAfterDecision(
      decision,
      { payer: open.interaction.payer, accounts: open.accounts },
      consent,
    );
    return step === undefined || step.kind === "ask" ? "stay" : step;
  }, traces);
  if (url === null) throw new Refusal("authorization.invalid_request", "no account that can pay was chosen");
  return url;
}

/**
 * Where an interaction of this browser led that ended a moment ago: for a double click or a reload, which must lead
 * there as well. Null where there is none.
 */
export async function justLed(
  deps: DecideDeps,
  bank: BankCode,
  correlationId: string | undefined,
  browser: AskingBrowser,
): Promise<string | null> {
  const entry = isUuid(correlationId) ? await deps.interactions.find(correlationId) : null;
  if (entry === null || entry.value.bank !== bank) return null;
  return await recentOutcome(browser, entry.value, deps.clock());
}
