/** The platform's consent screen and the customer's decision (explicit consent, contract CT7, CT9). */
import { payerAccountsOf } from "../consents/payer_accounts_store.ts";
import { readConsent, type ReadConsentDeps } from "../consents/read_consent.ts";
import { type BankCode, isUuid } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { BankClient } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import { type RequestReads, startRead } from "../../../base/store/request_reads.ts";
import type { ChosenStep, SessionVisit, Situation } from "./advance_session.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { decisionEvidence, type Reading } from "./decision_evidence.ts";
import {
  type AuthorizationSession,
  expiredStep,
  isLate,
  stepAfterDecision,
} from "./authorization_session.ts";
import type { Decision, OpenDecision } from "./open_decision.ts";
import { noteStep } from "./note_session.ts";
import { openOutcome } from "./sealed_outcome.ts";
import { screenUrlWithoutAccount } from "./screen_url.ts";
import { findKeptSession } from "./authorization_session_store.ts";
import type { SessionSteps } from "./session_steps.ts";

export interface DecideDeps extends ReadConsentDeps {
  readonly clients: ClientStore;
  readonly authUrl: string;
  readonly steps: SessionSteps;
}

/** A request for the screen or a decision. */
export interface ScreenVisit extends SessionVisit {
  readonly bank: BankCode;
  readonly correlationId: string | undefined;
}

export interface PostedDecision {
  /**
   * Parses the decision. Called after the token is verified.
   *
   * @throws {ApiError} `authorization.invalid_request`
   */
  readonly decisionOf: () => Decision;
  /** The anti-forgery token. */
  readonly token: string | undefined;
  readonly reading: (open: OpenDecision) => Reading;
}

export type Screen = { readonly show: OpenDecision } | { readonly leadTo: string };

/**
 * Opens the screen. If the decision is no longer open, returns the TPP's URL.
 *
 * @throws {ApiError} `bank.unknown`, `interaction.*`, `authorization.invalid_request`
 */
export async function openScreen(deps: DecideDeps, visit: ScreenVisit): Promise<Screen> {
  const { browser, reads, interactionId } = visit;
  const { steps } = deps;
  const { bank, session } = await requireSession(deps, visit);
  if (!await browser.holds(session)) {
    throw await steps.notYours(session, "opened in another browser", "opened after its end");
  }
  const ledTo = async (over: AuthorizationSession): Promise<Screen> => ({
    leadTo: await steps.finishedUrl(over, browser),
  });
  if (session.stage === "finished") return await ledTo(session);
  const opening = startDecision(deps, session, reads);
  const choose = ({ session, now }: Situation): ChosenStep | "stay" =>
    isLate(session, now) ? expiredStep("the screen was opened after the session expired") : "stay";
  const taken = await steps.advance(session, choose, { browser, reads, interactionId });
  if (taken.kind === "led") return { leadTo: taken.url };
  if (taken.kind === "over") return await ledTo(taken.session);
  const leadTo = await steps.urlIfInactive(bank, session, reads);
  return leadTo === null ? { show: await opening } : { leadTo };
}

/**
 * Executes the decision and returns the next URL.
 *
 * @throws {ApiError} as {@link openScreen}
 */
export async function decideConsent(
  deps: DecideDeps,
  visit: ScreenVisit,
  posted: PostedDecision,
): Promise<string> {
  const { browser, reads, interactionId } = visit;
  const { steps } = deps;
  const { bank, session } = await requireSession(deps, visit);
  if (session.stage === "finished") return await clickedAgain(deps, session, browser, posted);
  if (!await browser.holds(session)) {
    throw await steps.notYours(session, "posted from another browser", "posted after its end");
  }
  if (posted.token !== await browser.formToken(session.correlationId)) {
    throw await steps.notYours(session, "anti-forgery token");
  }
  const opening = startDecision(deps, session, reads);
  const decision = posted.decisionOf();
  const inactive = decision.accepted ? await steps.urlIfInactive(bank, session, reads) : null; // a rejection stands
  if (inactive !== null) return inactive;
  const open = await opening;
  const reading = posted.reading(open);
  const proof = decisionEvidence(open, decision, reading);
  const choose = (at: Situation): ChosenStep | "stay" => stepAfterPost(decision, open, at);
  const taken = await steps.advance(session, choose, { browser, reads, interactionId, ...proof });
  if (taken.kind === "over") return await clickedAgain(deps, taken.session, browser, posted);
  if (taken.kind === "stayed") return screenUrlWithoutAccount(deps.authUrl, session, reading.language);
  if (taken.decided === undefined) return taken.url;
  // Decided by another request. The TPP's page would look like the result of this click.
  throw await steps.decidedBefore(session, { accepted: taken.decided !== "Rejected", nextUrl: taken.url });
}

/**
 * Finds the session that the page's address names. Whether this browser began it is not known yet.
 *
 * @throws {ApiError} `bank.unknown`, `authorization.invalid_request`
 */
export async function requireSession(
  deps: Pick<DecideDeps, "clients" | "clock">,
  visit: ScreenVisit,
): Promise<{ readonly bank: BankClient; readonly session: AuthorizationSession }> {
  const { reads, correlationId } = visit;
  const named = isUuid(correlationId) // in one round trip with the bank
    ? startRead(findKeptSession(reads, correlationId, visit.bank, deps.clock))
    : undefined;
  const bank = await deps.clients.findBank(reads, visit.bank);
  if (bank === null) throw new ApiError("bank.unknown");
  const session = await named;
  if (session === undefined) throw new ApiError("authorization.invalid_request", "no such session");
  noteStep(session);
  return { bank, session };
}

/** Starts reading the decision and the entries that its step depends on, all in one round trip. */
function startDecision(
  deps: DecideDeps,
  session: AuthorizationSession,
  reads: RequestReads,
): Promise<OpenDecision> {
  deps.steps.prefetch(session, reads);
  return startRead(openDecision(deps, session, reads));
}

async function openDecision(
  deps: ReadConsentDeps,
  session: AuthorizationSession,
  reads: RequestReads,
): Promise<OpenDecision> {
  const { consentId, parties, payer } = session;
  if (parties === undefined || payer === undefined) {
    throw new ApiError("authorization.invalid_request", "the customer has not come back from the bank yet");
  }
  const [{ value: consent }, accounts] = await Promise.all([
    readConsent(deps, reads, consentId, session),
    payerAccountsOf(reads, consentId, payer),
  ]);
  if (accounts === null && consent.status === "AwaitingAuthorisation") {
    throw new Error(`a report of payer accounts of ${consentId} is not in the store`);
  }
  return { session, consent, parties, accounts: accounts ?? [] }; // a decided consent offers none
}

/**
 * After the session has expired, an acceptance has no effect, but a rejection still rejects the consent
 * (Decision G1).
 */
function stepAfterPost(
  decision: Decision,
  { accounts }: OpenDecision,
  { session, consent, now }: Situation,
): ChosenStep | "stay" {
  if (decision.accepted && isLate(session, now)) {
    return expiredStep("customer accepted after the session expired");
  }
  return stepAfterDecision(decision, { payer: session.payer, accounts }, consent) ?? "stay";
}

/**
 * Handles a click after this session has been decided. The form's token decrypts the stored next URL. That proves the
 * browser, whose cookie is cleared by then. For one minute the same decision (a double click) gets the same URL
 * again. The other decision gets a page that shows the first one.
 */
async function clickedAgain(
  { steps, clock }: Pick<DecideDeps, "steps" | "clock">,
  session: AuthorizationSession,
  browser: AskingBrowser,
  { decisionOf, token }: PostedDecision,
): Promise<string> {
  const { outcome } = session;
  const led = await openOutcome(token, outcome?.sealed);
  if (outcome === undefined || led === null) throw await steps.notYours(session, "decided before");
  const isRecent = clock() < outcome.until;
  if (outcome.accepted === undefined || (isRecent && outcome.accepted === decisionOf().accepted)) {
    return await steps.finishedUrl(session, browser, token);
  }
  browser.forget(session.correlationId);
  throw await steps.decidedBefore(session, {
    accepted: outcome.accepted,
    nextUrl: isRecent ? led : undefined,
  });
}
