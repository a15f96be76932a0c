/**
 * Handles the customer's return from the bank (contract EP5). If this browser began the session that the bank names,
 * it is redirected to the consent screen or to the TPP, never to an error page (Decision G1).
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import { faultText, type Mismatch, ok } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import type { Reader } from "../../../base/store/store.ts";
import type { ReplayRecords } from "../../../base/store/transaction.ts";
import type { ChosenStep, Situation } from "./advance_session.ts";
import { findSession } from "./authorization_session_store.ts";
import {
  BANK_NOT_ACTIVE,
  type BankReturn,
  type BankReturns,
  type ReturnVisit,
  usableFor,
} from "./bank_return.ts";
import type { ResultJwt } from "./result_jwt.ts";
import { noteUnusable } from "./note_session.ts";
import { screenUrl } from "./screen_url.ts";
import type { SessionSteps } from "./session_steps.ts";
import { stepAfterResult } from "./step_after_result.ts";

export interface FinishDeps {
  readonly returns: BankReturns;
  readonly steps: SessionSteps;
  readonly store: Reader;
  readonly authUrl: string;
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
  const { returns, steps } = deps;
  const returned = await returns.open(visit);
  if (!returned.ok) throw await returns.notAuthentic(visit, returned.fault);
  const { bank, session, response } = returned.value;
  const { browser, reads } = visit;
  if (!await browser.holds(session)) { // contract BR9, BR18; Decision B4
    throw response === undefined
      ? await returns.notAuthentic(visit, BANK_NOT_ACTIVE)
      : await steps.notYours(session, "returned in another browser", "returned after its end");
  }
  if (session.stage === "finished") return await steps.finishedUrl(session, browser);
  steps.prefetch(session, reads);
  if (session.stage === "delivered") return await steps.continueDelivered(bank, session, visit);
  const own = { ...returned.value, visit };
  const usable = response === undefined || session.stage === "deciding"
    ? ok(response)
    : usableFor(session, response);
  if (!usable.ok) return await leaveUnusable(deps, own, usable.fault);
  const isFailure = response !== undefined && response.result.outcome !== "success"; // it may still be recorded
  const inactive = isFailure ? null : await steps.urlIfInactive(bank, session, reads);
  if (inactive !== null) return inactive;
  if (response !== undefined) return await followResult(deps, own, response);
  throw await returns.notAuthentic(visit, BANK_NOT_ACTIVE);
}

async function leaveUnusable(
  { steps, log }: FinishDeps,
  { bank, session, visit: { browser, interactionId } }: OwnReturn,
  fault: Mismatch,
): Promise<string> {
  log.warn("bank_return.unusable", { interactionId, bank: bank.code, why: faultText(fault) });
  noteUnusable(fault);
  return await steps.unusableUrl(session, browser);
}

/**
 * Takes the step that follows from the result. The first result counts: while the customer decides, every later one
 * leads to the screen. The jti is used in the commit of the step, so that a result without a step does not use it.
 */
async function followResult(deps: FinishDeps, own: OwnReturn, response: ResultJwt): Promise<string> {
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
    const taken = await deps.steps.advance(session, choose, context);
    if (fault !== undefined) noteUnusable(fault);
    if (taken.kind === "over") return await deps.steps.finishedUrl(taken.session, browser);
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
  const { steps } = deps;
  const session = (await findSession(deps.store, own.session.correlationId))?.value;
  if (session === undefined) throw new ApiError("interaction.finished", "no such session");
  if (session.stage === "finished") return await steps.finishedUrl(session, own.visit.browser);
  if (session.stage === "delivered") return await steps.continueDelivered(own.bank, session, own.visit);
  if (session.stage === "deciding" || used === undefined) return screenUrl(deps.authUrl, session);
  return await leaveUnusable(deps, { ...own, session }, used);
}
