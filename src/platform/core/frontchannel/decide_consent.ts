/** The platform's consent screen and the customer's decision (explicit consent, contract CT7, CT9). */
import { payerAccountsOf } from "../consents/payer_accounts_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import { type BankCode, isUuid } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { BankClient } from "../registration/client.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import { type RequestReads, started } from "../../../base/store/request_reads.ts";
import { answeredBefore, notYours, saidBefore, whereItLed } from "./after_session.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { decisionEvidence, type Reading } from "./decision_evidence.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import {
  type AuthorizationSession,
  expired,
  isLate,
  keptUntil,
  stepAfterDecision,
} from "./authorization_session.ts";
import type { Decision, OpenDecision } from "./open_decision.ts";
import { noteStep } from "./note_session.ts";
import { openOutcome } from "./sealed_outcome.ts";
import {
  advanceSession,
  type ChosenStep,
  type Situation,
  startStanding,
  type StepDeps,
} from "./advance_session.ts";
import { screenUrlWithoutAccount } from "./screen_url.ts";

export interface DecideDeps extends StepDeps {
  readonly standingOf: StandingOf;
}

/** A request for the screen or a decision. */
export interface ScreenVisit {
  readonly bank: BankCode;
  readonly correlationId: string | undefined;
  readonly browser: AskingBrowser;
  readonly reads: RequestReads;
  readonly interactionId: string;
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
  const { bank, session } = await findSession(deps, visit);
  if (!await browser.holds(session)) throw await notYours(deps, session, "opened in another browser");
  const ledTo = async (over: AuthorizationSession): Promise<Screen> => ({
    leadTo: await whereItLed(deps, over, browser),
  });
  if (session.stage === "finished") return await ledTo(session);
  const opening = startDecision(deps, session, reads);
  const choose = ({ session, now }: Situation): ChosenStep | "stay" =>
    isLate(session, now) ? expired("the screen was opened after the session expired") : "stay";
  const taken = await advanceSession(deps, session.correlationId, choose, { browser, reads, interactionId });
  if (taken.kind === "answered") throw await answeredBefore(deps, session, browser, taken.consent);
  if (taken.kind === "led") return { leadTo: taken.url };
  if (taken.kind === "over") return await ledTo(taken.session);
  const wayOut = await wayOutOfInactive(deps, bank, session, reads);
  return wayOut === null ? { show: await opening } : { leadTo: wayOut };
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
  const { bank, session } = await findSession(deps, visit);
  if (session.stage === "finished") return await decidedBefore(deps, session, browser, posted);
  if (!await browser.holds(session)) throw await notYours(deps, session, "posted from another browser");
  if (posted.token !== await browser.formToken(session.correlationId)) {
    throw await notYours(deps, session, "anti-forgery token");
  }
  const opening = startDecision(deps, session, reads);
  const decision = posted.decisionOf();
  const wayOut = decision.accepted ? await wayOutOfInactive(deps, bank, session, reads) : null; // a rejection stands
  if (wayOut !== null) return wayOut;
  const open = await opening;
  const reading = posted.reading(open);
  const proof = decisionEvidence(open, decision, reading);
  const choose = (at: Situation): ChosenStep | "stay" => stepAfterPost(decision, open, at);
  const taken = await advanceSession(deps, session.correlationId, choose, {
    browser,
    reads,
    interactionId,
    ...proof,
  });
  if (taken.kind === "over") return await decidedBefore(deps, taken.session, browser, posted);
  if (taken.kind === "answered") throw await answeredBefore(deps, session, browser, taken.consent);
  if (taken.kind === "stayed") return screenUrlWithoutAccount(deps.authUrl, session, reading.language);
  if (taken.decided === undefined) return taken.url;
  // Decided by another request. The TPP's page would look like the result of this click.
  throw await saidBefore(deps, session, { accepted: taken.decided !== "Rejected", nextUrl: taken.url });
}

/**
 * Finds the session that the page's address names. Whether this browser began it is not known yet.
 *
 * @throws {ApiError} `bank.unknown`, `authorization.invalid_request`
 */
export async function findSession(
  deps: StepDeps,
  visit: ScreenVisit,
): Promise<{ readonly bank: BankClient; readonly session: AuthorizationSession }> {
  const { reads, correlationId } = visit;
  const flow = isUuid(correlationId) ? correlationId : undefined;
  const named = flow === undefined ? null : started(deps.sessions.find(reads, flow)); // in one round trip with the bank
  const bank = await deps.clients.findBank(reads, visit.bank);
  if (bank === null) throw new ApiError("bank.unknown");
  const session = (await named)?.value;
  if (session === undefined || session.bank !== visit.bank || deps.clock() >= keptUntil(session)) {
    throw new ApiError("authorization.invalid_request", "no such session");
  }
  noteStep(session);
  return { bank, session };
}

/** Starts reading the decision and the entries that its step depends on, all in one round trip. */
function startDecision(
  deps: StepDeps,
  session: AuthorizationSession,
  reads: RequestReads,
): Promise<OpenDecision> {
  startStanding(deps, session, reads);
  return started(openDecision(deps, session, reads));
}

async function openDecision(
  deps: StepDeps,
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
    return expired("customer accepted after the session expired");
  }
  const step = stepAfterDecision(decision, { payer: session.payer, accounts }, consent);
  return step === undefined || step.kind === "ask" ? "stay" : step;
}

/**
 * Handles a click after this session has been decided. The form's token decrypts the stored next URL. That proves the
 * browser, whose cookie is cleared by then. For one minute the same decision (a double click) gets the same URL
 * again. The other decision gets a page that shows the first one.
 */
async function decidedBefore(
  deps: StepDeps,
  session: AuthorizationSession,
  browser: AskingBrowser,
  { decisionOf, token }: PostedDecision,
): Promise<string> {
  const { outcome } = session;
  const led = outcome === undefined || token === undefined ? null : await openOutcome(token, outcome.sealed);
  if (outcome === undefined || token === undefined || led === null) {
    throw await notYours(deps, session, "decided before");
  }
  const isRecent = deps.clock() < outcome.until;
  if (outcome.accepted === undefined || (isRecent && outcome.accepted === decisionOf().accepted)) {
    return await whereItLed(deps, session, browser, token);
  }
  browser.forget(session.correlationId);
  throw await saidBefore(deps, session, { accepted: outcome.accepted, nextUrl: isRecent ? led : undefined });
}
