/**
 * The customer arrives with the TPP's link (endpoint 4). The pushed request is looked at, not used up: it may be
 * opened again until a flow that it started ends (FAPI 5.3.2.2 note 3). Then to the bank, with a sealed JWT.
 */
import { isImplicit } from "../consents/consent.ts";
import { readConsent, type ReadConsentDeps } from "../consents/read_consent.ts";
import type { BankCode } from "../kernel/identifiers.ts";
import { sha256 } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import { type NamedKey, sealClaims } from "../jose/sealed_jwt.ts";
import { canStart, type PushedRequest, referenceOf } from "../oauth/pushed_request.ts";
import type { PushedRequestStore } from "../oauth/pushed_request_store.ts";
import { issuerOf } from "../oauth/server_metadata.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import { FLOW_SECONDS } from "../profile.ts";
import type { BankClient, Client } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { Store } from "../store/store.ts";
import { begin, commit } from "../store/transaction.ts";
import type { AuthorizationError, Interaction } from "./interaction.ts";
import type { InteractionStore } from "./interaction_store.ts";
import { scaRequestClaims, scaUrl } from "./sca_request.ts";
import { errorUrl, type TppAddress } from "./tpp_redirect.ts";

/** What it needs. */
export interface StartDeps extends ReadConsentDeps {
  readonly store: Store;
  readonly requests: PushedRequestStore;
  readonly interactions: InteractionStore;
  readonly clients: ClientStore;
  readonly keys: ParticipantKeySets;
  readonly signer: NamedKey;
  readonly authUrl: string;
}

/** The customer's link; `bindingHash` is of the fresh cookie that the answer will set. */
export interface StartAuthorization {
  readonly bank: BankCode;
  readonly clientId: string | undefined;
  readonly requestUri: string | undefined;
  readonly bindingHash: string;
}

/** Where the browser goes; `correlationId` where it goes to the bank and needs its cookie. */
export interface Departure {
  readonly url: string;
  readonly correlationId?: string;
}

/** Sends the customer off. @throws {Refusal} `bank.unknown`, `authorization.*`: a page, as no redirect target is proven */
export async function startAuthorization(deps: StartDeps, command: StartAuthorization): Promise<Departure> {
  const bank = await deps.clients.findBank(command.bank);
  if (bank === null) throw new Refusal("bank.unknown"); // Decision A4
  const { request, requestHash } = await pushedRequest(deps, command);
  const tpp = await usableClient(deps, request);
  const tppAddress = addressOf(deps.authUrl, request);
  const leave = (error: AuthorizationError): Departure => ({ url: errorUrl(tppAddress, error) });
  const recipient = await sealingKey(deps.keys, bank);
  if (recipient === undefined) return leave("temporarily_unavailable");
  const { value: consent } = await readConsent(deps, request.consentId, request);
  if (consent.status !== "AwaitingAuthorisation") return leave("invalid_request");
  const interaction = openInteraction(
    deps.clock(),
    command.bindingHash,
    request,
    requestHash,
    isImplicit(consent),
  );
  const tx = begin();
  deps.interactions.stageOpening(tx, interaction);
  const claims = scaRequestClaims(interaction, { authUrl: deps.authUrl, bank, tpp }, deps.clock());
  const [sealed, opened] = await Promise.all([
    sealClaims(claims, deps.signer, recipient),
    commit(deps.store, deps.clock, tx),
  ]);
  const url = scaUrl(bank, sealed);
  if (!opened || url === undefined) return leave("server_error");
  return { url, correlationId: interaction.correlationId };
}

/** The TPP's address in a pushed request. */
export function addressOf(authUrl: string, request: PushedRequest): TppAddress {
  const state = request.state === undefined ? {} : { state: request.state };
  return { redirectUri: request.redirectUri, ...state, issuer: issuerOf(authUrl, request.bank) };
}

async function pushedRequest(
  deps: StartDeps,
  command: StartAuthorization,
): Promise<{ request: PushedRequest; requestHash: string }> {
  const reference = command.requestUri === undefined ? undefined : referenceOf(command.requestUri);
  if (command.clientId === undefined || reference === undefined) {
    throw new Refusal("authorization.invalid_request");
  }
  const entry = await deps.requests.find(reference);
  const by = { clientId: command.clientId, bank: command.bank, now: deps.clock() };
  if (entry === null || !canStart(entry.value, by)) throw new Refusal("authorization.request_uri_unusable");
  return { request: entry.value, requestHash: await sha256(reference) };
}

/** RFC 9126 7.4: what held at PAR must still hold. */
async function usableClient(deps: StartDeps, request: PushedRequest): Promise<Client> {
  const client = await deps.clients.find(request.clientId);
  const usable = client !== null && client.redirectUris.includes(request.redirectUri) &&
    await deps.keys.isActive(client);
  if (!usable) throw new Refusal("authorization.client_unusable");
  return client;
}

async function sealingKey(keys: ParticipantKeySets, bank: BankClient): Promise<NamedKey | undefined> {
  try {
    return await keys.encryptionKey(bank);
  } catch (error) {
    if (error instanceof Refusal && error.reason === "platform.unavailable") return undefined;
    throw error;
  }
}

function openInteraction(
  now: number,
  bindingHash: string,
  request: PushedRequest,
  requestHash: string,
  debtorAccountPresent: boolean,
): Interaction {
  return {
    correlationId: crypto.randomUUID(),
    stage: "at_bank",
    clientId: request.clientId,
    bank: request.bank,
    consentId: request.consentId,
    requestHash,
    bindingHash,
    debtorAccountPresent,
    expiresAt: now + FLOW_SECONDS * 1000,
  };
}
