/**
 * Handles the TPP's link (contract EP4). The pushed request is not used up: it may be opened again until one of its
 * sessions ends (FAPI 2.0 §5.3.2.2 note 3). The browser is redirected to the bank with a handover JWT, but not to a
 * bank that could not complete the payment, so that the customer does not sign in for no result.
 */
import { isImplicit, type ReadableConsent, withSession } from "../consents/consent.ts";
import { bankInitiation } from "../consents/initiation_representation.ts";
import { transactionDigest } from "../consents/transaction_digest.ts";
import { readConsent, type ReadConsentDeps } from "../consents/read_consent.ts";
import { asClientId, type BankCode, type ClientId, sha256 } from "../../../base/kernel/identifiers.ts";
import { ApiError, type ApiErrorParts, isStoreFailure } from "../../../base/kernel/api_error.ts";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import { type NamedKey, seal } from "../../../base/jose/sealed_jwt.ts";
import { signClaims } from "../../../base/jose/own_key.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { OwnSigner } from "../../evidence/evidence_store.ts";
import { canStart, type PushedRequest, referenceOf } from "../oauth/pushed_request.ts";
import { findPushedRequest, stageSessionCount } from "../oauth/pushed_request_store.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import { LINK_FAULTS } from "../../guards/http/link_faults.ts";
import {
  FLOW_SECONDS,
  MAX_CONSENT_RACES,
  MAX_SESSIONS_PER_REQUEST,
  MAX_STARTED_STEPS,
} from "../../../base/profile.ts";
import type { BankClient, Client } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import { startRead } from "../../../base/store/request_reads.ts";
import type { Entry } from "../../../base/store/store.ts";
import {
  contendedError,
  type RequestState,
  type TransactDeps,
  transactFor,
} from "../../../base/store/transaction.ts";
import type { AuthorizationError, AuthorizationSession, OpenedSession } from "./authorization_session.ts";
import { stageSession } from "./authorization_session_store.ts";
import { handoverClaims, handoverUrl } from "./handover_jwt.ts";
import { noteIds, notePushed } from "./note_session.ts";
import { addressOf } from "./session_standing.ts";
import { incompleteLink, unusableRequest } from "./link_fault.ts";
import type { RejectInOutage } from "../../guards/security/controls_store.ts";
import { backTo, errorUrl, inactiveUrl, languagesOf } from "./tpp_redirect.ts";

export interface StartDeps extends ReadConsentDeps, TransactDeps {
  readonly clients: ClientStore;
  readonly keys: ParticipantKeySets;
  readonly standingOf: StandingOf;
  /** Returns the key that signs now, with its document. */
  readonly ownSigner: () => OwnSigner;
  readonly consents: ConsentStore;
  readonly authUrl: string;
  readonly rejectInOutage: RejectInOutage;
  /** Whether the bank has recently failed to accept payment orders. */
  readonly isBankFailing: (bank: BankCode, client: ClientId) => boolean;
}

const UTF8 = new TextEncoder();

/** The opened link. `bindingHash` is the hash of the new cookie that the response will set. */
export interface StartAuthorization extends RequestState {
  readonly bank: BankCode;
  readonly clientId: string | undefined;
  readonly requestUri: string | undefined;
  readonly bindingHash: string;
}

/** The next URL. `correlationId` is set if it is the bank's, and the browser then needs the session's cookie. */
export interface Departure {
  readonly url: string;
  readonly correlationId?: string;
}

/**
 * Starts a session and returns the next URL.
 *
 * @throws {ApiError} `bank.unknown`, `authorization.*`: an error page, because no redirect target is proven
 */
export async function startAuthorization(deps: StartDeps, command: StartAuthorization): Promise<Departure> {
  const { reads } = command;
  const link = await readLink(command);
  const named = link === undefined ? undefined : startRead(readNamed(deps, command, link)); // in one round trip with the bank
  const bank = await deps.clients.findBank(reads, command.bank);
  if (bank === null) throw new ApiError("bank.unknown"); // Decision A4
  if (link === undefined || named === undefined) throw incompleteLink(command);
  const [pushed, client] = await named;
  const now = deps.clock();
  const isUsable = pushed !== null && canStart(pushed.value, { ...command, clientId: link.clientId, now });
  if (!isUsable) throw unusableRequest(pushed?.value, { ...command, ...link }, await linkTo(deps, client));
  const { value: request } = pushed;
  const tpp = await usableClient(deps, request, client);
  const tppAddress = addressOf(deps.authUrl, request);
  const leave = (error: AuthorizationError): Departure => ({ url: errorUrl(tppAddress, { error }) });
  const standing = await deps.standingOf(bank); // no older than the client's, which was read just before
  if (standing !== "active") return { url: inactiveUrl(tppAddress, "bank", standing) };
  const recipient = await readyBank(deps, bank, request.clientId);
  if (recipient === undefined) return leave("temporarily_unavailable");
  const { value: consent } = await readConsent(deps, reads, request.consentId, request);
  if (consent.status !== "AwaitingAuthorisation") return leave("invalid_request");
  const { bindingHash } = command;
  const { requestHash } = link;
  const session = newSession(deps.clock(), { bindingHash, requestHash, request, consent });
  const claims = handoverClaims(session, { authUrl: deps.authUrl, bank, tpp }, deps.clock());
  const { signed, evidence } = await signHandover(deps.ownSigner(), claims);
  const [sealed, opened] = await Promise.all([
    seal(signed, recipient),
    openSession(deps, command, session, evidence),
  ]);
  if (opened === undefined) {
    throw unavailableError(deps, request, tpp, contendedError("authorization session"));
  }
  if (opened !== "opened") return leave(opened);
  const url = handoverUrl(bank, sealed);
  return url === undefined ? leave("server_error") : { url, correlationId: session.correlationId };
}

async function signHandover(
  signer: OwnSigner,
  claims: JsonObject,
): Promise<{ readonly signed: string; readonly evidence: Evidence }> {
  const signed = await signClaims(claims, signer);
  return { signed, evidence: { kind: "handover", bytes: UTF8.encode(signed), key: signer.document } };
}

/**
 * Stores the session, or returns the error. One link starts a bounded number of sessions, in all browsers together.
 * Returns undefined after losing every race.
 */
async function openSession(
  deps: StartDeps,
  request: RequestState,
  session: OpenedSession,
  handover: Evidence,
): Promise<"opened" | AuthorizationError | undefined> {
  noteIds(session);
  // Of parallel openings one commits at a time.
  const options = { what: "pushed request", attempts: MAX_CONSENT_RACES, lost: () => undefined };
  return await transactFor<"opened" | AuthorizationError | undefined>(deps, request, options, async (tx) => {
    const [pushed, consent] = await Promise.all([
      findPushedRequest(tx, session.requestHash),
      deps.consents.find(tx, session.consentId),
    ]);
    if (pushed === null || pushed.value.completed) return "invalid_request";
    if (pushed.value.sessions >= MAX_SESSIONS_PER_REQUEST) return "opened_too_often";
    const steps = consent?.value.sequence;
    if (steps !== undefined && steps >= MAX_STARTED_STEPS) return "opened_too_often";
    stageSession(tx, session);
    stageSessionCount(tx, pushed);
    const now = deps.clock();
    const event = {
      at: now,
      event: "consent.customer_sent_to_bank",
      actor: "customer",
      evidence: [handover],
    };
    await deps.consents.stageNote(tx, session.consentId, event, (before) => ({
      sentToBank: true,
      ...withSession(before, session, now),
    }));
    return "opened";
  });
}

/** The parameters of the link. */
interface Link {
  readonly clientId: string;
  readonly requestHash: string;
}

/** Parses the link. Returns undefined if a parameter is missing or malformed (contract AZ3). */
async function readLink({ clientId, requestUri }: StartAuthorization): Promise<Link | undefined> {
  const reference = requestUri === undefined ? undefined : referenceOf(requestUri);
  if (clientId === undefined || reference === undefined) return undefined;
  return { clientId, requestHash: await sha256(reference) };
}

/** Reads the entries that the link names. */
async function readNamed(
  deps: StartDeps,
  { reads, bank }: Pick<StartAuthorization, "reads" | "bank">,
  { clientId, requestHash }: Link,
): Promise<readonly [Entry<PushedRequest> | null, Client | null]> {
  const id = asClientId(clientId);
  const [pushed, client] = await Promise.all([
    findPushedRequest(reads, requestHash),
    id === undefined ? null : deps.clients.find(reads, id),
  ]);
  if (pushed !== null) notePushed(pushed.value, { clientId, bank });
  return [pushed, client];
}

/**
 * Returns a link to the TPP that the customer's link names. The link is not proven, so it does not lead to a
 * redirect_uri.
 */
async function linkTo(deps: StartDeps, client: Client | null): Promise<Pick<ApiErrorParts, "tpp">> {
  try {
    return client !== null && await deps.standingOf(client) === "active" ? backTo(client) : {};
  } catch (error) {
    if (isStoreFailure(error)) throw error; // the customer gets the link by a second try
    return {};
  }
}

/** Contract AZ4, RFC 9126 §7.4: the checks of PAR must still hold. */
async function usableClient(deps: StartDeps, request: PushedRequest, client: Client | null): Promise<Client> {
  const usable = client?.registration === request.registration && await isActive(deps, client, request);
  if (!usable) {
    throw new ApiError("authorization.client_unusable", {
      fault: LINK_FAULTS.client_not_usable,
      ...languagesOf(request),
    });
  }
  if (!client.redirectUris.includes(request.redirectUri)) {
    throw new ApiError("authorization.redirect_uri_unusable", {
      fault: LINK_FAULTS.client_not_usable,
      ...languagesOf(request),
    });
  }
  return client;
}

/** If the client's status is unknown, its customer is not redirected to it, but gets an error page with a link. */
async function isActive(deps: StartDeps, client: Client, request: PushedRequest): Promise<boolean> {
  try {
    return await deps.standingOf(client) === "active" && await deps.keys.isActive(client);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw unavailableError(deps, request, client, error);
  }
}

/** The error page that also links to the TPP. */
function unavailableError(
  { authUrl }: StartDeps,
  request: PushedRequest,
  tpp: Client,
  { parts }: ApiError,
): ApiError {
  const nextUrl = errorUrl(addressOf(authUrl, request), {
    error: "temporarily_unavailable",
    code: "PLATFORM_UNAVAILABLE",
  });
  return new ApiError("platform.unavailable", { ...parts, nextUrl, ...backTo(tpp), ...languagesOf(request) });
}

/** Returns the bank's encryption key if the bank is active, has no outage, and its payment orders do not fail. */
async function readyBank(deps: StartDeps, bank: BankClient, client: ClientId): Promise<NamedKey | undefined> {
  const isPushedTo = bank.paymentOrdersUri !== undefined; // otherwise it fetches its orders
  if (isPushedTo && deps.isBankFailing(bank.code, client)) return undefined;
  try {
    await deps.rejectInOutage(bank.code);
    return await deps.keys.encryptionKey(bank);
  } catch (error) {
    if (isUnavailable(error)) return undefined;
    throw error;
  }
}

function isUnavailable(error: unknown): error is ApiError {
  return error instanceof ApiError && error.reason === "platform.unavailable";
}

function newSession(
  now: number,
  { request, consent, ...hashes }: Pick<AuthorizationSession, "bindingHash" | "requestHash"> & {
    readonly request: PushedRequest;
    readonly consent: ReadableConsent;
  },
): OpenedSession {
  return {
    correlationId: crypto.randomUUID(),
    stage: "at_bank",
    clientId: request.clientId,
    bank: request.bank,
    consentId: request.consentId,
    ...hashes,
    debtorAccountPresent: isImplicit(consent),
    transactionDigest: transactionDigest(bankInitiation(consent.request.initiation)),
    ...languagesOf(request),
    expiresAt: now + FLOW_SECONDS * 1000,
  };
}
