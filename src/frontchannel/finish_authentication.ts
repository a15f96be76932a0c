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
import type { BankClient } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { StandingOf } from "../security/standing.ts";
import { bankKey, clientKey, consentKey, interactionKey, pushedRequestKey } from "../store/keys.ts";
import type { ReadAhead } from "../store/read_ahead.ts";
import type { Entry, Reader } from "../store/store.ts";
import { begin, commit, contended, type Markers } from "../store/transaction.ts";
import { type AskingBrowser, lateReturn } from "./asking_browser.ts";
import { type EndDeps, endInteraction } from "./end_interaction.ts";
import { type Interaction, type Parties, type Step, stepAfterBank } from "./interaction.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import { claimedCorrelationId, openScaResponse, type ScaResponse } from "./sca_response.ts";
import { screenUrl } from "./screen_url.ts";

/** What it needs. */
export interface FinishDeps extends EndDeps {
  readonly clients: ClientStore;
  readonly keys: ParticipantKeySets;
  readonly decrypters: readonly NamedKey[];
  readonly standingOf: StandingOf;
}

/** The bank's answer, and who brings it. */
export interface FinishAuthentication {
  readonly bank: BankCode;
  readonly sealed: string;
  readonly browser: AskingBrowser;
  readonly reads: ReadAhead;
}

type Question = Extract<Step, { kind: "ask" }>;

/** Takes the customer back; gives where the browser goes. @throws {Refusal} `bank_return.not_authentic`, `interaction.*`, `bank.unknown` */
export async function finishAuthentication(
  deps: FinishDeps,
  command: FinishAuthentication,
): Promise<string> {
  const { reads, browser } = command;
  reads.ahead([bankKey(command.bank), ...browser.names().map(interactionKey)]);
  const bank = await deps.clients.findBank(command.bank, reads);
  if (bank === null) throw new Refusal("bank.unknown");
  if (await deps.standingOf(bank) !== "active") return await leaveInactiveBank(deps, bank, command);
  const now = unixSeconds(deps.clock());
  const opening = { decrypters: deps.decrypters, keys: deps.keys, authUrl: deps.authUrl, now };
  const response = await openScaResponse(opening, bank, command.sealed);
  const interaction = await ownInteraction(deps, command, response);
  const { requestHash, consentId, clientId } = interaction.value;
  reads.ahead([pushedRequestKey(requestHash), consentKey(consentId), clientKey(clientId)]);
  await refuseLate(deps, browser, interaction.value, reads);
  const wayOut = response.result.outcome === "success" // a failure may still be recorded
    ? await wayOutOfInactive(deps, bank, interaction.value, reads)
    : null;
  if (wayOut !== null) return wayOut;
  try {
    return await arrive(deps, { bank, response, interaction, browser, reads });
  } catch (error) {
    const now = await deps.interactions.find(response.correlationId);
    if (now !== null) await refuseLate(deps, browser, now.value); // another return came first while this one was taken
    throw error;
  }
}

/** The answer of a bank that is not active proves nothing, for its keys are gone; the browser's cookie still does. */
async function leaveInactiveBank(
  deps: FinishDeps,
  bank: BankClient,
  { sealed, browser, reads }: FinishAuthentication,
): Promise<string> {
  const correlationId = await claimedCorrelationId(deps.decrypters, sealed);
  const entry = correlationId === undefined ? null : await deps.interactions.find(correlationId, reads);
  const own = entry !== null && entry.value.bank === bank.code && await browser.holds(entry.value);
  if (!own) throw refused("the bank is not active");
  if (entry.value.stage === "finished") await refuseLate(deps, browser, entry.value, reads);
  const wayOut = await wayOutOfInactive(deps, bank, entry.value, reads);
  if (wayOut === null) throw refused("the bank is not active");
  return wayOut;
}

async function refuseLate(
  deps: FinishDeps,
  browser: AskingBrowser,
  interaction: Interaction,
  from?: Reader,
): Promise<void> {
  const request = await deps.requests.find(interaction.requestHash, from);
  const canDecide = interaction.stage === "deciding" && request?.value.completed === false; // not in another tab
  const at = { now: deps.clock(), ...(canDecide ? { screenUrl: screenUrl(deps.authUrl, interaction) } : {}) };
  const refusal = await lateReturn(browser, interaction, at);
  if (refusal !== undefined) throw refusal;
}

async function arrive(deps: FinishDeps, { bank, response, interaction, browser, reads }: {
  readonly bank: BankClient;
  readonly response: ScaResponse;
  readonly interaction: Entry<Interaction>;
  readonly browser: AskingBrowser;
  readonly reads: Reader;
}): Promise<string> {
  // Spent with what the answer leads to, or not at all: a refused return must not use up a jti.
  const markers: Markers = { pending: [response.once] };
  let question: Question | undefined;
  const url = await endInteraction(deps, response.correlationId, markers, (consent) => {
    const step = stepAfterBank(response.result, consent, bank.consentManagedByBank);
    if (step.kind !== "ask") return step;
    question = step;
    return "stay";
  }, { browser, reads });
  if (url !== null) return url;
  if (question === undefined) throw new Refusal("interaction.finished", "nothing to ask");
  const parties = await partiesOf(deps, bank, interaction.value, reads);
  await askCustomer(deps, interaction, question, parties, markers);
  return screenUrl(deps.authUrl, interaction.value);
}

async function ownInteraction(
  deps: FinishDeps,
  command: FinishAuthentication,
  response: ScaResponse,
): Promise<Entry<Interaction>> {
  const entry = await deps.interactions.find(response.correlationId, command.reads);
  if (entry === null || entry.value.bank !== command.bank) throw refused("unknown correlation_id");
  if (!await command.browser.holds(entry.value)) throw new Refusal("interaction.not_yours");
  if (deps.clock() >= entry.value.expiresAt) throw refused("the flow has expired");
  if (response.refId !== entry.value.consentId) throw refused("ref_id");
  if (response.debtorAccountPresent !== (entry.value.debtorAccountPresent ? "true" : "false")) {
    throw refused("debtor_account_present");
  }
  return entry;
}

/** Names as they are registered now; a newer registration changes nothing on a page that is being read. */
async function partiesOf(
  deps: FinishDeps,
  bank: BankClient,
  { clientId }: Interaction,
  from: Reader,
): Promise<Parties> {
  const tpp = await deps.clients.find(clientId, from);
  if (tpp === null) throw new Refusal("interaction.finished", "the TPP is gone");
  const { orgName: legalName, role, registeredAt: registeredSince, registrationNumber, clientUri } = tpp;
  const number = registrationNumber === undefined ? {} : { registrationNumber };
  const page = clientUri === undefined ? {} : { clientUri };
  return {
    tpp: { legalName, clientId, role, registeredSince, ...number, ...page },
    bank: { code: bank.code, name: bank.orgName },
  };
}

async function askCustomer(
  deps: FinishDeps,
  former: Entry<Interaction>,
  { payer, reason }: Question,
  parties: Parties,
  markers: Markers,
): Promise<void> {
  const tx = begin(markers);
  deps.interactions.stageChange(tx, former, { ...former.value, stage: "deciding", payer, parties });
  const cause = { actor: "customer", reason };
  record(tx, former.value.consentId, { at: deps.clock(), event: "consent.customer_authenticated", ...cause });
  if (!await commit(deps.store, deps.clock, tx)) throw contended("the customer returned twice at once");
}

function refused(why: string): Refusal {
  return new Refusal("bank_return.not_authentic", why);
}
