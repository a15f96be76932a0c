/**
 * Handles the customer's return from the bank (contract EP5). If this browser began the session that the bank names,
 * it is redirected to the consent screen or to the TPP, never to an error page (Decision G1).
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import { faultText, type Mismatch, ok } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import type { ReplayRecords } from "../../../base/store/transaction.ts";
import { afterUnusableReturn, answeredBefore, notYours, whereItLed } from "./after_session.ts";
import {
  BANK_NOT_ACTIVE,
  type BankReturn,
  type BankReturnDeps,
  notAuthentic,
  openBankReturn,
  type ReturnVisit,
  usableFor,
} from "./bank_return.ts";
import { goOn } from "./go_on.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import type { ScaResponse } from "./sca_response.ts";
import { noteUnusable } from "./note_session.ts";
import { screenUrl } from "./screen_url.ts";
import { stepAfterResult } from "./step_after_result.ts";
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
  if (session.stage === "finished") return await whereItLed(deps, session, browser);
  startStanding(deps, session, reads);
  if (session.stage === "delivered") return await goOn(deps, bank, session, visit);
  const own = { ...returned.value, visit };
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
  const { evidence, sha256: resultSha256 } = response;
  const context = { browser, reads, interactionId, replayRecords, evidence: [evidence], resultSha256 };
  let fault: Mismatch | undefined;
  const choose = (at: Situation): ChosenStep | "stay" => {
    const step = stepAfterResult(response.result, bank, at);
    fault = step === "stay" || step.kind !== "reject" ? undefined : step.fault;
    return step;
  };
  try {
    const taken = await advanceSession(deps, session.correlationId, choose, context);
    if (taken.kind === "answered") throw await answeredBefore(deps, session, browser, taken.consent);
    if (taken.kind === "led" && fault !== undefined) noteUnusable(fault);
    if (taken.kind === "over") return await whereItLed(deps, taken.session, browser);
    return taken.kind === "led" ? taken.url : await overtakenBy(deps, own);
  } catch (error) {
    // Only the commit's rejection of a used jti is expected here.
    if (!(error instanceof ApiError) || error.reason !== response.once.rejection) throw error;
    // It was used by the same result in a parallel request, which has changed the session, or by an older result.
    return await overtakenBy(deps, own, response.once.fault);
  }
}

/** Another result counts: the customer decides, or the bank has delivered one on the back channel. */
async function overtakenBy(deps: FinishDeps, own: OwnReturn, used?: Mismatch): Promise<string> {
  const session = (await deps.sessions.find(deps.store, own.session.correlationId))?.value;
  if (session === undefined) throw new ApiError("interaction.finished", "no such session");
  if (session.stage === "finished") return await whereItLed(deps, session, own.visit.browser);
  if (session.stage === "delivered") return await goOn(deps, own.bank, session, own.visit);
  if (session.stage === "deciding" || used === undefined) return screenUrl(deps.authUrl, session);
  return await unusable(deps, { ...own, session }, used);
}
