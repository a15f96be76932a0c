/**
 * Takes the bank's result on the back channel (contract ARS1 to ARS4). It is the JWT of the customer's return, and it
 * waits in the session until the browser that began the session asks. No consent changes and no code exists before
 * that (`frontchannel/go_on.ts`).
 */
import { invalidStatus, type ReadableConsent, withoutSession } from "../consents/consent.ts";
import { readConsent, type ReadConsentDeps } from "../consents/read_consent.ts";
import {
  type AuthorizationSession,
  isLate,
  keptUntil,
  stepAfterBank,
} from "../frontchannel/authorization_session.ts";
import { usableFor } from "../frontchannel/bank_return.ts";
import { findSession, stageSessionChange } from "../frontchannel/authorization_session_store.ts";
import type { DeliveryLimit } from "../frontchannel/decryption_limit.ts";
import { noteReturnedSession } from "../frontchannel/note_session.ts";
import { openResultJwt, type ResultJwt, type ResultJwtDeps } from "../frontchannel/result_jwt.ts";
import type { BankClient } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError, isStoreFailure } from "../../../base/kernel/api_error.ts";
import { type Mismatch, mismatch } from "../../../base/kernel/result.ts";
import type { Entry } from "../../../base/store/store.ts";
import {
  type RequestState,
  stageOnce,
  type TransactDeps,
  transactFor,
  type Transaction,
} from "../../../base/store/transaction.ts";

export interface DeliverResultDeps extends ResultJwtDeps, ReadConsentDeps, TransactDeps {
  readonly clients: Pick<ClientStore, "findBank">;
  readonly deliveryLimit: DeliveryLimit;
}

export interface DeliverResult extends RequestState {
  readonly bank: BankCode;
  /** The compact JWE. */
  readonly sealed: string;
}

/**
 * Stores the result, unless it is stored already, and returns its session.
 *
 * @throws {ApiError} `bank_result.*`, `bank_return.not_authentic`, `resource.invalid_consent_status`
 */
export async function deliverResult(
  deps: DeliverResultDeps,
  command: DeliverResult,
): Promise<AuthorizationSession> {
  const bank = await deps.clients.findBank(command.reads, command.bank);
  if (bank?.resultsOnBackChannel !== true) throw new ApiError("bank_result.not_declared");
  deps.deliveryLimit.expect(bank.code);
  const response = await openResultJwt(deps, bank, command.sealed);
  if (!response.ok) {
    deps.deliveryLimit.noteFailure(bank.code);
    throw notAuthentic(response.fault);
  }
  return await store(deps, command, bank, response.value);
}

/** Between two reads of an attempt a parallel request may have brought the same result. */
async function store(
  deps: DeliverResultDeps,
  request: DeliverResult,
  bank: BankClient,
  response: ResultJwt,
): Promise<AuthorizationSession> {
  try {
    const options = { what: "authorization session" };
    return await transactFor(deps, request, options, (tx) => attempt(deps, tx, bank, response));
  } catch (error) {
    if (!(error instanceof ApiError) || isStoreFailure(error)) throw error; // it may have used up the proof
    const session = (await findSession(deps.store, response.correlationId))?.value;
    if (session?.bank !== bank.code || session.resultSha256 !== response.sha256) throw error;
    return session;
  }
}

async function attempt(
  deps: DeliverResultDeps,
  tx: Transaction,
  bank: BankClient,
  response: ResultJwt,
): Promise<AuthorizationSession> {
  const now = deps.clock();
  const session = await findSession(tx, response.correlationId);
  if (session === null || session.value.bank !== bank.code || now >= keptUntil(session.value)) {
    throw notAuthentic(
      mismatch("correlation_id", "that of a session with this bank", response.correlationId).fault,
    );
  }
  noteReturnedSession(session.value);
  if (session.value.resultSha256 === response.sha256) return session.value; // contract ARS3
  if (session.value.stage !== "at_bank") {
    throw tooLate("Another result of this authorization session counts.");
  }
  const usable = usableFor(session.value, response);
  if (!usable.ok) throw unusableError(usable.fault);
  const consent = await openConsent(deps, tx, session.value);
  if (isLate(session.value, now) && response.result.outcome === "success") {
    throw tooLate("The authorization session has expired: a success authorizes nothing any more.");
  }
  const step = stepAfterBank(response.result, consent.value, bank.consentManagedByBank);
  if (step.kind === "reject" && step.fault !== undefined) throw unusableError(step.fault);
  await stageOnce(tx, response.once, now);
  return stageDelivery(deps, tx, session, response, consent);
}

/** Fixes the accounts that the bank has reported, as its customer's return does (Decision G2). */
function stageDelivery(
  deps: DeliverResultDeps,
  tx: Transaction,
  session: Entry<AuthorizationSession>,
  { result, jws, sha256, evidence: { key } }: ResultJwt,
  consent: Entry<ReadableConsent>,
): AuthorizationSession {
  const { payer } = consent.value;
  deps.consents.stageAtBank(tx, consent, withoutSession(consent.value, session.value.correlationId));
  const delivered: AuthorizationSession = {
    ...session.value,
    stage: "delivered",
    resultSha256: sha256,
    result: { ...result, jws, ...(key === undefined ? {} : { key: key.text }) },
    ...(payer === undefined ? {} : { payer }),
  };
  stageSessionChange(tx, session, delivered);
  return delivered;
}

/** No session of the consent has had an end that decides: that ends its pushed request and the consent in one commit. */
async function openConsent(
  deps: DeliverResultDeps,
  tx: Transaction,
  { consentId, clientId, bank }: AuthorizationSession,
): Promise<Entry<ReadableConsent>> {
  const consent = await readConsent(deps, tx, consentId, { clientId, bank });
  if (consent.value.status === "AwaitingAuthorisation") return consent;
  throw tooLate("The consent of this authorization session does not await authorisation any more.");
}

function tooLate(message: string): ApiError {
  return invalidStatus(message, "a result was delivered too late");
}

function notAuthentic(fault: Mismatch): ApiError {
  return new ApiError("bank_return.not_authentic", { fault });
}

/** The JWT is not used up: the bank may deliver a correct one. */
function unusableError(fault: Mismatch): ApiError {
  return new ApiError("bank_result.unusable", { fault });
}
