/** The platform's consent screen: what it shows, and the customer's decision (explicit consent, table 2.1 C7, C9). */
import type { Consent } from "../consents/consent.ts";
import { readConsent } from "../consents/read_consent.ts";
import { type BankCode, isUuid } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { BankClient, Client } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import { newMarkers } from "../store/transaction.ts";
import { type EndDeps, endInteraction, type SealOutcome } from "./end_interaction.ts";
import { type Interaction, stepAfterDecision } from "./interaction.ts";

/** What it needs. */
export interface DecideDeps extends EndDeps {
  readonly clients: ClientStore;
}

/** An interaction of this browser that waits for a decision. */
export interface OpenDecision {
  readonly interaction: Interaction;
  readonly consent: Consent;
  readonly tpp: Client;
  readonly bank: BankClient;
}

/** The customer's decision. */
export interface Decision {
  readonly accepted: boolean;
  /** Which of the payer's accounts. */
  readonly accountIndex: number | undefined;
}

/** Whether the browser holds the interaction's cookie. */
export type Holds = (interaction: Interaction) => Promise<boolean>;

/** What the screen shows. @throws {Refusal} `bank.unknown`, `interaction.*`, `authorization.invalid_request` */
export async function openDecision(
  deps: DecideDeps,
  bankCode: BankCode,
  correlationId: string | undefined,
  holds: Holds,
): Promise<OpenDecision> {
  const bank = await deps.clients.findBank(bankCode);
  if (bank === null) throw new Refusal("bank.unknown");
  const entry = isUuid(correlationId) ? await deps.interactions.find(correlationId) : null;
  if (entry === null || entry.value.bank !== bankCode) throw new Refusal("authorization.invalid_request");
  const interaction = entry.value;
  if (!await holds(interaction)) throw new Refusal("interaction.not_yours");
  if (interaction.stage !== "deciding" || deps.clock() >= interaction.expiresAt) {
    throw new Refusal("interaction.finished");
  }
  const [consent, tpp] = await Promise.all([
    readConsent(deps, interaction.consentId, interaction),
    deps.clients.find(interaction.clientId),
  ]);
  if (tpp === null) throw new Refusal("interaction.finished", "the TPP is gone");
  return { interaction, consent: consent.value, tpp, bank };
}

/**
 * Ends an interaction that there is nothing to decide about any more: its consent's deadline has passed, or another
 * flow has decided it. Says where the browser goes; null where the customer can still decide.
 */
export async function endOverdue(deps: DecideDeps, open: OpenDecision): Promise<string | null> {
  if (open.consent.status === "AwaitingAuthorisation") return null;
  return await endInteraction(deps, open.interaction.correlationId, newMarkers(), () => "stay");
}

/** Carries the decision out and says where the browser goes. @throws {Refusal} as {@link openDecision} */
export async function decideConsent(
  deps: DecideDeps,
  open: OpenDecision,
  decision: Decision,
  seal: SealOutcome,
): Promise<string> {
  const url = await endInteraction(deps, open.interaction.correlationId, newMarkers(), (consent) => {
    const step = stepAfterDecision(decision, open.interaction.payer, consent);
    return step === undefined || step.kind === "ask" ? "stay" : step;
  }, seal);
  if (url === null) throw new Refusal("authorization.invalid_request", "no account that can pay was chosen");
  return url;
}

/**
 * An interaction of this browser that ended a moment ago: for a double click or a reload, which must lead where the first
 * one led. Null where there is none.
 */
export async function justEnded(
  deps: DecideDeps,
  bank: BankCode,
  correlationId: string | undefined,
  holds: Holds,
): Promise<Interaction | null> {
  const interaction = isUuid(correlationId)
    ? (await deps.interactions.find(correlationId))?.value
    : undefined;
  if (interaction?.outcome === undefined || interaction.bank !== bank) return null;
  return deps.clock() < interaction.outcome.until && await holds(interaction) ? interaction : null;
}
