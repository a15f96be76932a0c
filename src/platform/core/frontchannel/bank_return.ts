/**
 * A customer's return from the bank (contract EP5): the bank's result JWT, and the session of this browser that it
 * names. A return that is not authentic, or that another browser brings, gets an error page and has no effect
 * (Decision B4).
 */
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type Mismatch, mismatch, ok, type Result } from "../../../base/kernel/result.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import type { BankClient } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { SessionVisit } from "./advance_session.ts";
import { findKeptSession, findSession } from "./authorization_session_store.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import type { AuthorizationSession } from "./authorization_session.ts";
import { claimedCorrelationId, openResultJwt, type ResultJwt, type ResultJwtDeps } from "./result_jwt.ts";
import { noteBankReturn, noteReturnedSession } from "./note_session.ts";
import type { TakeDecryption } from "./decryption_limit.ts";
import { backTo } from "./tpp_redirect.ts";

export interface BankReturnDeps extends ResultJwtDeps {
  readonly clients: ClientStore;
  readonly standingOf: StandingOf;
  readonly takeDecryption: TakeDecryption;
}

/** The request of a browser that returns. */
export interface ReturnVisit extends SessionVisit {
  readonly bank: BankCode;
  /** The bank's result JWT. Undefined if the link has none or more than one. */
  readonly sealed: string | undefined;
}

/** A return for a session of the bank. Only {@link BankReturns} makes one. */
export interface BankReturn {
  readonly bank: BankClient;
  /** Whether this browser began it is not known yet. */
  readonly session: AuthorizationSession;
  /** Undefined if the bank is not active. Its result then cannot be verified, because its keys are removed. */
  readonly response: ResultJwt | undefined;
}

export interface BankReturns {
  /**
   * Opens the result and finds the session that it names. The fault says why the return is not authentic.
   *
   * @throws {ApiError} `bank.unknown`; `platform.unavailable` if the status list is too old
   */
  open(visit: ReturnVisit): Promise<Result<BankReturn>>;
  /**
   * The page for every return that is not authentic. Anyone can make one, so it neither ends a session nor redirects.
   * If all open sessions of the browser at this bank have the same TPP, the page links to that TPP.
   */
  notAuthentic(visit: ReturnVisit, fault: Mismatch): Promise<ApiError>;
}

export function openBankReturns(deps: BankReturnDeps): BankReturns {
  const { clients, clock, decrypters, standingOf, takeDecryption } = deps;
  const find = async ({ bank, reads }: ReturnVisit, id: string): Promise<Result<AuthorizationSession>> => {
    const session = await findKeptSession(reads, id, bank, clock);
    return session === undefined
      ? mismatch("correlation_id", "that of a session with this bank", id)
      : ok(session);
  };
  return {
    open: async (visit) => {
      const { sealed, browser } = visit;
      const [bank, named] = await Promise.all([ // in one round trip
        clients.findBank(visit.reads, visit.bank),
        namedSessions(visit),
      ]);
      if (bank === null) throw new ApiError("bank.unknown");
      noteBankReturn(bank);
      if (sealed === undefined) return mismatch("oAuthUrl", "given once");
      takeDecryption(await firstHeld(browser, named));
      const isActive = await standingOf(bank) === "active";
      const response = isActive ? await openResultJwt(deps, bank, sealed) : ok(undefined);
      if (!response.ok) return response;
      const correlationId = response.value === undefined
        ? await claimedCorrelationId(decrypters, sealed)
        : ok(response.value.correlationId);
      const session = correlationId.ok ? await find(visit, correlationId.value) : correlationId;
      if (session.ok) noteReturnedSession(session.value);
      return session.ok ? ok({ bank, session: session.value, response: response.value }) : session;
    },
    notAuthentic: async (visit, fault) => {
      const named = (await namedSessions(visit)).filter(({ bank }) => bank === visit.bank);
      const held = await Promise.all(named.map((session) => visit.browser.holds(session)));
      const [tpp, ...more] = new Set(named.filter((_, index) => held[index]).map(({ clientId }) => clientId));
      const link = tpp === undefined || more.length > 0 ? {} : backTo(await clients.find(visit.reads, tpp));
      return new ApiError("bank_return.not_authentic", { fault, ...link });
    },
  };
}

/** Whether a result that the bank signed is one for this session and of this time (contract BR6, BR10, BR20). */
export function usableFor(session: AuthorizationSession, response: ResultJwt): Result<ResultJwt> {
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

/** Reads the sessions that the browser's cookies name. */
async function namedSessions(
  { browser, reads }: ReturnVisit,
): Promise<readonly AuthorizationSession[]> {
  const entries = await Promise.all(browser.names().map((id) => findSession(reads, id)));
  return entries.flatMap((entry) => entry === null ? [] : [entry.value]);
}

/** The newest session that this browser began. */
async function firstHeld(
  browser: AskingBrowser,
  named: readonly AuthorizationSession[],
): Promise<string | undefined> {
  for (const session of named.toReversed()) {
    if (await browser.holds(session)) return session.correlationId;
  }
  return undefined;
}
