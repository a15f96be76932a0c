/**
 * A customer's return from the bank (contract EP5): the bank's result JWT, and the session of this browser that it
 * names. A return that is not authentic, or that another browser brings, gets an error page and has no effect
 * (Decision B4).
 */
import type { Clock } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type Mismatch, mismatch, ok, type Result } from "../../../base/kernel/result.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import type { BankClient } from "../registration/client.ts";
import type { RequestReads } from "../../../base/store/request_reads.ts";
import type { Entry } from "../../../base/store/store.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { type AuthorizationSession, keptUntil } from "./authorization_session.ts";
import {
  claimedCorrelationId,
  openScaResponse,
  type ScaResponse,
  type ScaResponseDeps,
} from "./sca_response.ts";
import { noteBankReturn, noteReturnedSession } from "./note_session.ts";
import type { TakeDecryption } from "./decryption_limit.ts";
import type { StepDeps } from "./advance_session.ts";
import { backTo } from "./tpp_redirect.ts";

export interface BankReturnDeps extends ScaResponseDeps, StepDeps {
  readonly clock: Clock;
  readonly standingOf: StandingOf;
  readonly takeDecryption: TakeDecryption;
}

/** The request of a browser that returns. */
export interface ReturnVisit {
  readonly bank: BankCode;
  /** The bank's result JWT. Undefined if the link has none or more than one. */
  readonly sealed: string | undefined;
  readonly browser: AskingBrowser;
  readonly reads: RequestReads;
  /** Interaction id of the request, for the log. */
  readonly interactionId: string;
}

/** A return for a session of the bank. Only {@link openBankReturn} makes one. */
export interface BankReturn {
  readonly bank: BankClient;
  /** Whether this browser began it is not known yet. */
  readonly session: AuthorizationSession;
  /** Undefined if the bank is not active. Its result then cannot be verified, because its keys are removed. */
  readonly response: ScaResponse | undefined;
}

/**
 * Opens the result and finds the session that it names. The fault says why the return is not authentic.
 *
 * @throws {ApiError} `bank.unknown`; `platform.unavailable` if the status list is too old
 */
export async function openBankReturn(deps: BankReturnDeps, visit: ReturnVisit): Promise<Result<BankReturn>> {
  const [bank, named] = await Promise.all([ // in one round trip
    deps.clients.findBank(visit.reads, visit.bank),
    sessionsOf(deps, visit),
  ]);
  if (bank === null) throw new ApiError("bank.unknown");
  noteBankReturn(bank);
  if (visit.sealed !== undefined) deps.takeDecryption(await firstHeld(visit.browser, named));
  const isActive = await deps.standingOf(bank) === "active";
  const response = isActive ? await openResult(deps, bank, visit) : ok(undefined);
  if (!response.ok) return response;
  const correlationId = response.value === undefined
    ? await claimedCorrelationId(deps.decrypters, visit.sealed ?? "")
    : ok(response.value.correlationId);
  const session = correlationId.ok ? await findSession(deps, visit, correlationId.value) : correlationId;
  if (session.ok) noteReturnedSession(session.value);
  return session.ok ? ok({ bank, session: session.value, response: response.value }) : session;
}

/** Whether a result that the bank signed is one for this session and of this time. */
export function usableFor(session: AuthorizationSession, response: ScaResponse): Result<ScaResponse> {
  const { times, refId, debtorAccountPresent, transactionDigest = session.transactionDigest } = response;
  const expected = session.debtorAccountPresent ? "true" : "false";
  if (!times.ok) return times;
  if (refId !== session.consentId) return mismatch("ref_id", "the consent of this session", refId);
  if (debtorAccountPresent !== expected) {
    return mismatch("debtor_account_present", expected, debtorAccountPresent);
  }
  return transactionDigest === session.transactionDigest
    ? ok(response)
    : mismatch("transaction_digest", "that of the handover JWT, or none", transactionDigest); // contract BR20
}

export const BANK_NOT_ACTIVE: Mismatch = { at: "bank", expected: "active" };

/** The newest session that this browser began. */
async function firstHeld(
  browser: AskingBrowser,
  named: readonly (Entry<AuthorizationSession> | null)[],
): Promise<string | undefined> {
  for (const entry of named.toReversed()) {
    if (entry !== null && await browser.holds(entry.value)) return entry.value.correlationId;
  }
  return undefined;
}

async function openResult(
  deps: BankReturnDeps,
  bank: BankClient,
  { sealed }: ReturnVisit,
): Promise<Result<ScaResponse>> {
  return sealed === undefined
    ? mismatch("oAuthUrl", "given once")
    : await openScaResponse(deps, bank, sealed);
}

async function findSession(
  { sessions, clock }: BankReturnDeps,
  { bank, reads }: ReturnVisit,
  correlationId: string,
): Promise<Result<AuthorizationSession>> {
  const session = (await sessions.find(reads, correlationId))?.value;
  return session !== undefined && session.bank === bank && clock() < keptUntil(session)
    ? ok(session)
    : mismatch("correlation_id", "that of a session with this bank", correlationId);
}

/** Reads the sessions that the browser's cookies name. */
async function sessionsOf(
  { sessions }: Pick<StepDeps, "sessions">,
  { browser, reads }: Pick<ReturnVisit, "browser" | "reads">,
): Promise<readonly (Entry<AuthorizationSession> | null)[]> {
  return await Promise.all(browser.names().map((id) => sessions.find(reads, id)));
}

/**
 * The page for every return that is not authentic. Anyone can make one, so it neither ends a session nor redirects.
 * If all open sessions of the browser at this bank have the same TPP, the page links to that TPP.
 */
export async function notAuthentic(
  deps: Pick<StepDeps, "sessions" | "clients">,
  { browser, reads, bank }: ReturnVisit,
  fault: Mismatch,
): Promise<ApiError> {
  const sessions = (await sessionsOf(deps, { browser, reads }))
    .flatMap((entry) => entry === null || entry.value.bank !== bank ? [] : [entry.value]);
  const held = await Promise.all(sessions.map((session) => browser.holds(session)));
  const [tpp, ...more] = new Set(sessions.filter((_, index) => held[index]).map(({ clientId }) => clientId));
  const link = tpp === undefined || more.length > 0 ? {} : backTo(await deps.clients.find(reads, tpp));
  return new ApiError("bank_return.not_authentic", { fault, ...link });
}
