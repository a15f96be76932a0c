/**
 * Handles the customer's return from the bank (contract EP5). If this browser began the session that the bank names,
 * it is redirected to the consent screen or to the TPP, never to an error page (Decision G1).
 */
import type { Parties } from "../../../base/values/parties.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { faultText, type Mismatch, mismatch, ok, type Result } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import type { BankClient, Client } from "../registration/client.ts";
import type { ReplayRecords } from "../../../base/store/transaction.ts";
import { afterUnusableReturn, answeredBefore, notYours, whereItLed } from "./after_session.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { type AuthorizationSession, expired, isLate, stepAfterBank } from "./authorization_session.ts";
import {
  BANK_NOT_ACTIVE,
  type BankReturn,
  type BankReturnDeps,
  notAuthentic,
  openBankReturn,
  type ReturnVisit,
} from "./bank_return.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import type { ScaResponse } from "./sca_response.ts";
import { noteUnusable } from "./note_session.ts";
import { screenUrl } from "./screen_url.ts";
import { advanceSession, type ChosenStep, type Situation, startStanding } from "./advance_session.ts";

export interface FinishDeps extends BankReturnDeps {
  readonly log: Log;
}

/** A return of the browser that began the session. */
interface OwnReturn extends BankReturn {
  readonly visit: ReturnVisit;
}

/**
 * Processes a customer's return and returns the next URL.
 *
 * @throws {ApiError} `bank_return.not_authentic`, `interaction.*`, `bank.unknown`
 */
export async function finishAuthentication(deps: FinishDeps, visit: ReturnVisit): Promise<string> {
  const returned = await openBankReturn(deps, visit);
  if (!returned.ok) throw await notAuthentic(deps, visit, returned.fault);
  const { bank, session, response } = returned.value;
  const { browser, reads } = visit;
  if (!await browser.holds(session)) { // Decision B4
    throw response === undefined
      ? await notAuthentic(deps, visit, BANK_NOT_ACTIVE)
      : await notYours(deps, session, "returned in another browser");
  }
  if (session.stage === "finished") return await ledTo(deps, session, browser);
  const own = { ...returned.value, visit };
  startStanding(deps, session, reads);
  const usable = response === undefined || session.stage === "deciding"
    ? ok(response)
    : usableFor(session, response);
  if (!usable.ok) return await unusable(deps, own, usable.fault);
  const wayOut = response?.result.outcome === "failure" || response?.result.outcome === "unknown"
    ? null // a failure may still be recorded
    : await wayOutOfInactive(deps, bank, session, reads);
  if (wayOut !== null) return wayOut;
  if (response !== undefined) return await follow(deps, own, response);
  throw await notAuthentic(deps, visit, BANK_NOT_ACTIVE);
}

/** Whether a result that the bank signed is one for this session and of this time. */
function usableFor(session: AuthorizationSession, response: ScaResponse): Result<ScaResponse> {
  const { times, refId, debtorAccountPresent } = response;
  const expected = session.debtorAccountPresent ? "true" : "false";
  if (!times.ok) return times;
  if (refId !== session.consentId) return mismatch("ref_id", "the consent of this session", refId);
  return debtorAccountPresent === expected
    ? ok(response)
    : mismatch("debtor_account_present", expected, debtorAccountPresent);
}

async function unusable(
  deps: FinishDeps,
  { bank, session, visit: { browser, interactionId } }: OwnReturn,
  fault: Mismatch,
): Promise<string> {
  deps.log.warn("bank_return.unusable", { interactionId, bank: bank.code, why: faultText(fault) });
  noteUnusable(fault);
  return await afterUnusableReturn(deps, session, browser);
}

/**
 * Takes the step that follows from the result. The first result counts: while the customer decides, every later one
 * leads to the screen. The jti is used in the commit of the step, so that a result without a step does not use it.
 */
async function follow(
  deps: FinishDeps,
  own: OwnReturn,
  response: ScaResponse,
): Promise<string> {
  const { bank, session, visit: { browser, reads, interactionId } } = own;
  const replayRecords: ReplayRecords = { pending: [response.once] };
  const context = { browser, reads, interactionId, replayRecords, evidence: [response.evidence] };
  let fault: Mismatch | undefined;
  const choose = (at: Situation): ChosenStep | "stay" => {
    const step = stepAfterReturn(response, bank, at);
    fault = step === "stay" || step.kind !== "reject" ? undefined : step.fault;
    return step;
  };
  try {
    const taken = await advanceSession(deps, session.correlationId, choose, context);
    if (taken.kind === "answered") throw await answeredBefore(deps, session, browser, taken.consent);
    if (taken.kind === "led" && fault !== undefined) noteUnusable(fault);
    if (taken.kind === "over") return await ledTo(deps, taken.session, browser);
    return taken.kind === "led" ? taken.url : screenUrl(deps.authUrl, session);
  } catch (error) {
    // Only the commit's rejection of a used jti is expected here.
    if (!(error instanceof ApiError) || error.reason !== response.once.rejection) throw error;
    return await afterReplay(deps, own, response.once.fault);
  }
}

/**
 * The jti was used by the same result in a parallel request, which has changed the session, or by an older result.
 */
async function afterReplay(deps: FinishDeps, own: OwnReturn, used: Mismatch): Promise<string> {
  const session = (await deps.sessions.find(deps.store, own.session.correlationId))?.value;
  if (session === undefined) throw new ApiError("interaction.finished", "no such session");
  if (session.stage === "finished") return await ledTo(deps, session, own.visit.browser);
  if (session.stage === "deciding") return screenUrl(deps.authUrl, session);
  return await unusable(deps, { ...own, session }, used);
}

async function ledTo(
  deps: FinishDeps,
  session: AuthorizationSession,
  browser: AskingBrowser,
): Promise<string> {
  return await whereItLed(deps, session, browser, await browser.formToken(session.correlationId));
}

function stepAfterReturn(
  { result }: ScaResponse,
  bank: BankClient,
  { session, consent, tpp, now }: Situation,
): ChosenStep | "stay" {
  const late = isLate(session, now);
  if (session.stage === "deciding") {
    return late ? expired("returned again after the session expired") : "stay";
  }
  // A late success has no effect. A late failure counts as one in time (Decision G1).
  if (late && result.outcome === "success") {
    return expired(`bank: ${result.status}, after the session expired`);
  }
  const step = stepAfterBank(result, consent, bank.consentManagedByBank);
  return step.kind === "ask" ? { ...step, parties: partiesOf(bank, tpp) } : step;
}

/** The registered names now. A later registration does not change a page that is being read. */
function partiesOf(bank: BankClient, tpp: Client): Parties {
  const { clientId, orgName: legalName, role, registeredAt: registeredSince, registrationNumber, clientUri } =
    tpp;
  const number = registrationNumber === undefined ? {} : { registrationNumber };
  const page = clientUri === undefined ? {} : { clientUri };
  return {
    tpp: { legalName, clientId, role, registeredSince, ...number, ...page },
    bank: { code: bank.code, name: bank.orgName },
  };
}
