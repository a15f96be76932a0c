/**
 * Computes the next URL of a session's own browser if no step can be taken, because the session is over or the bank's
 * result cannot be used. The URL is always the TPP's (Decision G1). No state changes.
 */
import type { Consent } from "../consents/consent.ts";
import { ApiError, type ApiErrorParts } from "../../../base/kernel/api_error.ts";
import { openRequestReads } from "../../../base/store/request_reads.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { type AuthorizationSession, isLate, overtaken } from "./authorization_session.ts";
import { openOutcome } from "./sealed_outcome.ts";
import { readStanding, type StepDeps } from "./advance_session.ts";
import { backTo, errorUrl, languagesOf } from "./tpp_redirect.ts";

/**
 * Returns the next URL of a finished session, for the browser that began it, proven by its cookie or its form token.
 * For one minute this is the same URL as before, because the browser may have lost that response. After that it is the
 * TPP's, with an error.
 *
 * @throws {ApiError} `interaction.finished` if no address of the TPP is left
 */
export async function whereItLed(
  deps: StepDeps,
  session: AuthorizationSession,
  browser: AskingBrowser,
  formToken?: string,
): Promise<string> {
  const token = formToken ?? await browser.formToken(session.correlationId);
  browser.forget(session.correlationId);
  const { outcome } = session;
  const again = outcome === undefined || deps.clock() >= outcome.until
    ? null
    : await openOutcome(token, outcome.sealed);
  if (again !== null) return again;
  const { address, consent } = await readStanding(deps, session, openRequestReads(deps.store));
  return errorUrl(address, overtaken(consent.value) ?? { error: "session_expired" });
}

/**
 * Returns the next URL after a result that the bank signed for this session but that cannot be used: its times are
 * wrong, its jti was used before, or it is about another consent. The session stays open, because the bank may send a
 * valid one.
 *
 * @throws {ApiError} `interaction.finished` if no address of the TPP is left; otherwise as {@link answeredBefore}
 */
export async function afterUnusableReturn(
  deps: StepDeps,
  session: AuthorizationSession,
  browser: AskingBrowser,
): Promise<string> {
  const { address, request, consent } = await readStanding(deps, session, openRequestReads(deps.store));
  if (request.value.completed) throw await answeredBefore(deps, session, browser, consent.value);
  return errorUrl(address, { error: isLate(session, deps.clock()) ? "session_expired" : "server_error" });
}

/**
 * The page for a session whose pushed request was completed by another session, for example in a second tab. Decision
 * G1 redirects customers to the TPP so that every pushed request gets a response. This one already has a response,
 * and a second, contradicting one could undo it at the TPP.
 */
export async function answeredBefore(
  deps: StepDeps,
  session: AuthorizationSession,
  browser: AskingBrowser,
  consent: Consent,
): Promise<ApiError> {
  browser.forget(session.correlationId);
  if (overtaken(consent)?.error === "access_denied") { // its deadline has passed without a decision
    return new ApiError("interaction.finished", {
      detail: "answered before",
      ...await linkTo(deps, session),
      ...languagesOf(session),
    });
  }
  return await saidBefore(deps, session, { accepted: consent.status !== "Rejected" });
}

/** The page that shows an earlier decision that differs from the customer's choice now. */
export async function saidBefore(
  deps: StepDeps,
  session: AuthorizationSession,
  { accepted, nextUrl }: { readonly accepted: boolean; readonly nextUrl?: string | undefined },
): Promise<ApiError> {
  return new ApiError(accepted ? "interaction.accepted" : "interaction.refused", {
    detail: "decided before",
    ...(nextUrl === undefined ? {} : { nextUrl }),
    ...await linkTo(deps, session),
    ...languagesOf(session),
  });
}

/**
 * The page for a browser that cannot prove that it began the session. A reader who knows the random id of a session
 * may learn that it is over, but not the decision and not the next URL.
 */
export async function notYours(
  deps: StepDeps,
  session: AuthorizationSession,
  detail: string,
): Promise<ApiError> {
  const request = await deps.requests.find(deps.store, session.requestHash);
  const isOver = session.stage === "finished" || request === null || request.value.completed;
  const reason = isOver ? "interaction.finished" : "interaction.not_yours";
  return new ApiError(reason, { detail, ...await linkTo(deps, session) }); // in the language of this browser
}

async function linkTo(
  deps: StepDeps,
  { clientId }: Pick<AuthorizationSession, "clientId">,
): Promise<Pick<ApiErrorParts, "tpp">> {
  return backTo(await deps.clients.find(deps.store, clientId));
}
