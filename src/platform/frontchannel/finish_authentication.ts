/**
 * Handles the customer's return from the bank (contract EP5). A return that is not authentic, or that another browser
 * brings, gets an error page and has no effect (Decision B4). If this browser began the session that the bank
 * names, it is redirected to the consent screen or to the TPP, never to an error page (Decision G1).
 */
import { unixSeconds } from "../../base/kernel/clock.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { NamedKey } from "../../base/jose/sealed_jwt.ts";
import type { Log } from "../../base/observability/log.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import type { BankClient, Client } from "../registration/client.ts";
import type { StandingOf } from "../security/standing.ts";
import { authorizationSessionKey, bankKey } from "../store_keys.ts";
import type { Prefetch } from "../../base/store/prefetch.ts";
import { afterUnusableReturn, answeredBefore, notYours, whereItLed } from "./after_session.ts";
import type { AskingBrowser } from "./asking_browser.ts";
import {
  type AuthorizationSession,
  expired,
  isLate,
  keptUntil,
  type Parties,
  stepAfterBank,
} from "./authorization_session.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import { claimedCorrelationId, openScaResponse, type ScaResponse } from "./sca_response.ts";
import { screenUrl } from "./screen_url.ts";
import { type ChosenStep, type Situation, stepAhead, type StepDeps, takeStep } from "./take_step.ts";
import { backTo } from "./tpp_redirect.ts";

export interface FinishDeps extends StepDeps {
  readonly keys: ParticipantKeySets;
  readonly decrypters: readonly NamedKey[];
  readonly standingOf: StandingOf;
  readonly log: Log;
}

/** The bank's result JWT and the browser that brings it. */
export interface FinishAuthentication {
  readonly bank: BankCode;
  /** Undefined if the link has no or more than one result JWT. */
  readonly sealed: string | undefined;
  readonly browser: AskingBrowser;
  readonly reads: Prefetch;
  /** Interaction id of the request, for the log. */
  readonly interactionId: string;
}

/**
 * Processes the return and returns the next URL.
 *
 * @throws {ApiError} `bank_return.not_authentic`, `interaction.*`, `bank.unknown`
 */
export async function finishAuthentication(
  deps: FinishDeps,
  command: FinishAuthentication,
): Promise<string> {
  const { reads, browser } = command;
  reads.ahead([bankKey(command.bank), ...browser.names().map(authorizationSessionKey)]);
  const bank = await deps.clients.findBank(command.bank, reads);
  if (bank === null) throw new ApiError("bank.unknown");
  if (await deps.standingOf(bank) !== "active") return await leaveInactiveBank(deps, bank, command);
  const response = await authenticResponse(deps, command, bank);
  const session = await ownSession(deps, command, response);
  if (session.stage === "finished") return await ledTo(deps, session, browser);
  reads.ahead(stepAhead(session));
  const doubt = session.stage === "at_bank" ? doubtAbout(response, session) : undefined;
  if (doubt !== undefined) return await unusable(deps, command, session, doubt);
  const wayOut = response.result.outcome === "success" // a failure may still be recorded
    ? await wayOutOfInactive(deps, bank, session, reads)
    : null;
  if (wayOut !== null) return wayOut;
  return await follow(deps, { command, bank, response, session });
}

/**
 * The result of a bank that is not active cannot be verified, because its keys are removed. The cookie still proves
 * the browser.
 */
async function leaveInactiveBank(
  deps: FinishDeps,
  bank: BankClient,
  command: FinishAuthentication,
): Promise<string> {
  const { sealed = "", browser, reads } = command;
  const correlationId = await claimedCorrelationId(deps.decrypters, sealed);
  const session = correlationId === undefined
    ? undefined
    : (await deps.sessions.find(correlationId, reads))?.value;
  const isOwn = session?.bank === bank.code && deps.clock() < keptUntil(session) &&
    await browser.holds(session);
  if (!isOwn) throw await notAuthentic(deps, command, "the bank is not active");
  if (session.stage === "finished") return await ledTo(deps, session, browser);
  const wayOut = await wayOutOfInactive(deps, bank, session, reads);
  if (wayOut === null) throw await notAuthentic(deps, command, "the bank is not active");
  return wayOut;
}

async function authenticResponse(
  deps: FinishDeps,
  command: FinishAuthentication,
  bank: BankClient,
): Promise<ScaResponse> {
  if (command.sealed === undefined) throw await notAuthentic(deps, command, "not exactly one oAuthUrl");
  const { decrypters, keys, authUrl } = deps;
  const opening = { decrypters, keys, authUrl, now: unixSeconds(deps.clock()) };
  const opened = await openScaResponse(opening, bank, command.sealed);
  if (!opened.ok) throw await notAuthentic(deps, command, opened.why);
  return opened.value;
}

/** Returns the session that the bank names, if it is this browser's. */
async function ownSession(
  deps: FinishDeps,
  command: FinishAuthentication,
  response: ScaResponse,
): Promise<AuthorizationSession> {
  const session = (await deps.sessions.find(response.correlationId, command.reads))?.value;
  if (session === undefined || session.bank !== command.bank || deps.clock() >= keptUntil(session)) {
    throw await notAuthentic(deps, command, "unknown correlation_id");
  }
  if (!await command.browser.holds(session)) {
    throw await notYours(deps, session, "returned in another browser");
  }
  return session;
}

/**
 * Takes the step that follows from the result. The first result counts: while the customer decides, every later one
 * leads to the screen. The jti is used in the commit of the step, so that a result without a step does not use it.
 */
async function follow(deps: FinishDeps, { command, bank, response, session }: {
  readonly command: FinishAuthentication;
  readonly bank: BankClient;
  readonly response: ScaResponse;
  readonly session: AuthorizationSession;
}): Promise<string> {
  const { browser, reads } = command;
  const context = { browser, reads, replayRecords: { pending: [response.once] } };
  const choose = (at: Situation): ChosenStep | "stay" => stepAfterReturn(response, bank, at);
  try {
    const taken = await takeStep(deps, session.correlationId, choose, context);
    if (taken.kind === "answered") throw await answeredBefore(deps, session, browser, taken.consent);
    if (taken.kind === "over") return await ledTo(deps, taken.session, browser);
    return taken.kind === "led" ? taken.url : screenUrl(deps.authUrl, session);
  } catch (error) {
    // Only the commit's rejection of a used jti is expected here.
    if (!(error instanceof ApiError) || error.reason !== response.once.rejection) throw error;
    return await afterReplay(deps, command, session);
  }
}

/**
 * The jti was used by the same result in a parallel request, which has changed the session, or by an older result.
 */
async function afterReplay(
  deps: FinishDeps,
  command: FinishAuthentication,
  { correlationId }: AuthorizationSession,
): Promise<string> {
  const session = (await deps.sessions.find(correlationId))?.value;
  if (session === undefined) throw new ApiError("interaction.finished", "no such session");
  if (session.stage === "finished") return await ledTo(deps, session, command.browser);
  if (session.stage === "deciding") return screenUrl(deps.authUrl, session);
  return await unusable(deps, command, session, "jti used before");
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

/** Returns why a result that the bank signed for this session cannot be used. */
function doubtAbout(response: ScaResponse, session: AuthorizationSession): string | undefined {
  if (response.timeFault !== undefined) return response.timeFault;
  if (response.refId !== session.consentId) return "ref_id";
  const expected = session.debtorAccountPresent ? "true" : "false";
  return response.debtorAccountPresent === expected ? undefined : "debtor_account_present";
}

async function unusable(
  deps: FinishDeps,
  { bank, interactionId, browser }: FinishAuthentication,
  session: AuthorizationSession,
  why: string,
): Promise<string> {
  deps.log.warn("bank_return.unusable", { interactionId, bank, why });
  return await afterUnusableReturn(deps, session, browser);
}

/**
 * The page for every return that is not authentic. Anyone can make one, so it neither ends a session nor redirects.
 * If all open sessions of the browser at this bank have the same TPP, the page links to that TPP.
 */
async function notAuthentic(
  deps: FinishDeps,
  command: FinishAuthentication,
  detail: string,
): Promise<ApiError> {
  const { browser, reads, bank } = command;
  const sessions = (await Promise.all(browser.names().map((id) => deps.sessions.find(id, reads))))
    .flatMap((entry) => entry === null || entry.value.bank !== bank ? [] : [entry.value]);
  const held = await Promise.all(sessions.map((session) => browser.holds(session)));
  const [tpp, ...more] = new Set(sessions.filter((_, index) => held[index]).map(({ clientId }) => clientId));
  const link = tpp === undefined || more.length > 0 ? {} : backTo(await deps.clients.find(tpp, reads));
  return new ApiError("bank_return.not_authentic", { detail, ...link });
}
