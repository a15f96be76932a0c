/**
 * The customer comes back from the bank (endpoint 5). What is not authentic, or not this browser's, changes nothing
 * (Decision B4); what is leads to the platform's consent screen or to the end.
 */
import type { BankCode } from "../kernel/identifiers.ts";
import { unixSeconds } from "../kernel/clock.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { NamedKey } from "../jose/sealed_jwt.ts";
import { record } from "../observability/audit_trail.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { Entry } from "../store/store.ts";
import { begin, commit, type Markers } from "../store/transaction.ts";
import { type EndDeps, endInteraction } from "./end_interaction.ts";
import { type Interaction, type Step, stepAfterBank } from "./interaction.ts";
import { openScaResponse, type ScaResponse } from "./sca_response.ts";

/** What it needs. */
export interface FinishDeps extends EndDeps {
  readonly clients: ClientStore;
  readonly keys: ParticipantKeySets;
  readonly decrypters: readonly NamedKey[];
}

/** The bank's answer; `holds` says whether this browser began an interaction. */
export interface FinishAuthentication {
  readonly bank: BankCode;
  readonly sealed: string;
  readonly holds: (interaction: Interaction) => Promise<boolean>;
}

type Question = Extract<Step, { kind: "ask" }>;

/** Where the browser goes: to the TPP with an answer, or to the consent screen of this interaction. */
export type Arrival = { readonly to: "tpp"; readonly url: string } | {
  readonly to: "consent_screen";
  readonly correlationId: string;
};

/** Takes the customer back. @throws {Refusal} `bank_return.not_authentic`, `interaction.*`, `bank.unknown` */
export async function finishAuthentication(
  deps: FinishDeps,
  command: FinishAuthentication,
): Promise<Arrival> {
  const bank = await deps.clients.findBank(command.bank);
  if (bank === null) throw new Refusal("bank.unknown");
  const now = unixSeconds(deps.clock());
  const opening = { decrypters: deps.decrypters, keys: deps.keys, authUrl: deps.authUrl, now };
  const response = await openScaResponse(opening, bank, command.sealed);
  const interaction = await ownInteraction(deps, command, response);
  // Spent with what the answer leads to, or not at all: a refused return must not use up a jti.
  const markers: Markers = { pending: [response.once] };
  let question: Question | undefined;
  const url = await endInteraction(deps, response.correlationId, markers, (consent) => {
    const step = stepAfterBank(response.result, consent, bank.consentManagedByBank);
    if (step.kind !== "ask") return step;
    question = step;
    return "stay";
  });
  if (url !== null) return { to: "tpp", url };
  if (question === undefined) throw new Refusal("interaction.finished", "nothing to ask");
  await askCustomer(deps, interaction, question, markers);
  return { to: "consent_screen", correlationId: response.correlationId };
}

async function ownInteraction(
  deps: FinishDeps,
  command: FinishAuthentication,
  response: ScaResponse,
): Promise<Entry<Interaction>> {
  const entry = await deps.interactions.find(response.correlationId);
  if (entry === null || entry.value.bank !== command.bank) throw refused("unknown correlation_id");
  if (!await command.holds(entry.value)) throw new Refusal("interaction.not_yours");
  if (deps.clock() >= entry.value.expiresAt) throw refused("the flow has expired");
  if (response.refId !== entry.value.consentId) throw refused("ref_id");
  if (response.debtorAccountPresent !== (entry.value.debtorAccountPresent ? "true" : "false")) {
    throw refused("debtor_account_present");
  }
  if (entry.value.stage !== "at_bank") throw new Refusal("interaction.finished");
  return entry;
}

async function askCustomer(
  deps: FinishDeps,
  former: Entry<Interaction>,
  { payer, reason }: Question,
  markers: Markers,
): Promise<void> {
  const tx = begin(markers);
  deps.interactions.stageChange(tx, former, { ...former.value, stage: "deciding", payer });
  const cause = { actor: "customer", reason };
  record(tx, former.value.consentId, { at: deps.clock(), event: "consent.customer_authenticated", ...cause });
  if (!await commit(deps.store, deps.clock, tx)) {
    throw new Refusal("interaction.finished", "returned twice at once");
  }
}

function refused(why: string): Refusal {
  return new Refusal("bank_return.not_authentic", why);
}
