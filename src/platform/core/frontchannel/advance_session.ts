/**
 * Takes an authorization session one step further, for the bank's return and for the platform's screen: to the
 * screen, or to its end with the consent `Authorized` and a code, `Rejected`, or unchanged. All changes of a step
 * (consent, code, session, pushed request, replay record of the bank's JWT) are one commit (contract AZ15, BR15).
 */
import type { Parties } from "../../../base/values/parties.ts";
import {
  type ConsentStatus,
  moveConsent,
  type Payer,
  type ReadableConsent,
  rejectConsent,
  withoutSession,
} from "../consents/consent.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { stageCode } from "../oauth/authorization_code_store.ts";
import type { PushedRequest } from "../oauth/pushed_request.ts";
import { stageCompletion } from "../oauth/pushed_request_store.ts";
import type { Evidence, ShownPage } from "../../evidence/evidence.ts";
import { CODE_SECONDS } from "../../../base/profile.ts";
import type { Client } from "../registration/client.ts";
import type { RequestReads } from "../../../base/store/request_reads.ts";
import type { Entry } from "../../../base/store/store.ts";
import {
  newReplayRecords,
  type ReplayRecords,
  type TransactDeps,
  transactFor,
  type Transaction,
} from "../../../base/store/transaction.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { type AuthorizationSession, type Step, stepIfOvertaken } from "./authorization_session.ts";
import { findSession, stageSessionChange } from "./authorization_session_store.ts";
import { screenUrl } from "./screen_url.ts";
import { sealOutcome } from "./sealed_outcome.ts";
import type { SessionEnds } from "./session_ends.ts";
import type { SessionStanding, Standing } from "./session_standing.ts";
import { errorUrl, reasonCodeOf, successUrl } from "./tpp_redirect.ts";

export interface AdvanceDeps extends TransactDeps {
  readonly consents: ConsentStore;
  readonly authUrl: string;
  readonly standing: SessionStanding;
  readonly ends: SessionEnds;
}

/** The facts at `now` (milliseconds) from which a step is chosen. */
export interface Situation {
  readonly session: AuthorizationSession;
  readonly consent: ReadableConsent;
  readonly tpp: Client;
  readonly now: number;
}

/** A step to execute. A question also names the TPP and the bank. */
export type ChosenStep = Exclude<Step, { kind: "ask" }> | {
  readonly kind: "ask";
  readonly payer: Payer;
  readonly reason: string;
  readonly parties: Parties;
};

/** Called again if a parallel change committed first. Not called if the consent no longer awaits authorisation. */
export type ChooseStep = (at: Situation) => ChosenStep | "stay";

/** A request of a browser for a session. */
export interface SessionVisit {
  readonly browser: AskingBrowser;
  readonly reads: RequestReads;
  /** Interaction id of the request, for the log. */
  readonly interactionId: string;
}

/** For a minute, the browser of the visit can be sent again to the step's next URL. */
export interface StepContext extends SessionVisit {
  /** Committed with the step. */
  readonly replayRecords?: ReplayRecords;
  /** The page on which the customer decided, for the consent's history. */
  readonly page?: ShownPage;
  /** The cause of the step: the bank's result or the customer's decision. */
  readonly evidence?: readonly Evidence[];
  /** SHA-256 of the bank's result, if that is the cause. */
  readonly resultSha256?: string;
}

export type Taken =
  /** `decided` is the consent's status if another session had decided it before. */
  | { readonly kind: "led"; readonly url: string; readonly decided?: ConsentStatus }
  | { readonly kind: "stayed" }
  /** The session had ended before. */
  | { readonly kind: "over"; readonly session: AuthorizationSession };

/**
 * Executes the chosen step.
 *
 * @throws {ApiError} `interaction.finished` if no address of the TPP is left; `interaction.*` if another session of
 * the same pushed request has ended, because its TPP gets only one response; `platform.unavailable` if parallel changes
 * kept committing first
 */
export type AdvanceSession = (
  session: AuthorizationSession,
  choose: ChooseStep,
  context: StepContext,
) => Promise<Taken>;

export function advanceSession(deps: AdvanceDeps): AdvanceSession {
  return async (visited, choose, context) => {
    const { correlationId } = visited;
    const { reads, replayRecords = newReplayRecords(), interactionId, browser } = context;
    const request = { reads, replayRecords, interactionId };
    const options = { what: "authorization session" };
    const { taken, ends } = await transactFor<Attempted>(deps, request, options, async (tx) => {
      const now = deps.clock(); // read once, so that a deadline has passed for all of an attempt or for none
      const session = await findSession(tx, correlationId);
      if (session === null) throw new ApiError("interaction.finished", "no such session");
      if (session.value.stage === "finished") return { taken: { kind: "over", session: session.value } };
      const standing = await deps.standing.read(session.value, tx, now);
      const { tpp, request, consent: { value: consent } } = standing;
      if (request.value.completed) return { taken: { kind: "answered", consent } };
      const before = stepIfOvertaken(consent);
      const step = before ?? choose({ session: session.value, consent, tpp, now });
      if (step === "stay") return { taken: { kind: "stayed" } };
      const at = { ...standing, session, now };
      const url = step.kind === "ask"
        ? await stageQuestion(deps, tx, step, at, context)
        : await stageEnd(deps, tx, step, at, context);
      const decided = before?.error === "invalid_request" ? { decided: consent.status } : {};
      return { taken: { kind: "led", url, ...decided }, ends: step.kind !== "ask" };
    });
    if (ends) browser.forget(correlationId);
    if (taken.kind !== "answered") return taken;
    // The request is completed: by this session, if a parallel request ended it between two reads, or by another one.
    const now = (await findSession(deps.store, correlationId))?.value;
    if (now?.stage === "finished") return { kind: "over", session: now };
    throw await deps.ends.answeredBefore(visited, browser, taken.consent);
  };
}

/** The result of an attempt, and whether its commit ends the session. */
interface Attempted {
  readonly taken: Taken | { readonly kind: "answered"; readonly consent: ReadableConsent };
  readonly ends?: boolean;
}

type At = Standing & { readonly session: Entry<AuthorizationSession>; readonly now: number };

/** Stages the move to the consent screen. It shows the accounts that the bank reported last (Decision G2). */
async function stageQuestion(
  deps: AdvanceDeps,
  tx: Transaction,
  { payer, parties, reason }: Extract<ChosenStep, { kind: "ask" }>,
  { session, now }: At,
  context: StepContext,
): Promise<string> {
  const { evidence = [] } = context;
  const { correlationId, consentId } = session.value;
  stageSessionChange(tx, session, {
    ...withResult(session.value, context),
    stage: "deciding",
    payer,
    parties,
  });
  const event = "consent.customer_authenticated";
  const authenticated = { at: now, event, actor: "customer", reason, evidence };
  await deps.consents.stageNote(
    tx,
    consentId,
    authenticated,
    (before) => withoutSession(before, correlationId),
  );
  return screenUrl(deps.authUrl, session.value);
}

async function stageEnd(
  deps: AdvanceDeps,
  tx: Transaction,
  step: Exclude<ChosenStep, { kind: "ask" }>,
  at: At,
  context: StepContext,
): Promise<string> {
  const { session, request, now } = at;
  const { browser } = context;
  const url = await stageOutcome(deps, tx, step, at, context);
  // If this session was too late, another session of the same request can still succeed.
  const isDecided = step.kind !== "leave" || step.error !== "session_expired";
  if (isDecided) stageCompletion(tx, request);
  const sealed = await sealOutcome(await browser.formToken(session.value.correlationId), url);
  const decision = step.kind === "leave" ? {} : { accepted: step.kind === "authorise" };
  const outcome = { sealed, until: now + CODE_SECONDS * 1000, ...decision };
  const changed = { ...withResult(session.value, context), stage: "finished", outcome } as const;
  stageSessionChange(tx, session, changed);
  return url;
}

/** The result JWT that counts stays known. A delivered result has had its effect. */
function withResult(
  { result: _, ...session }: AuthorizationSession,
  { resultSha256 }: StepContext,
): AuthorizationSession {
  return resultSha256 === undefined ? session : { ...session, resultSha256 };
}

/** Stages the change of the consent and returns the next URL. */
async function stageOutcome(
  deps: AdvanceDeps,
  tx: Transaction,
  step: Exclude<ChosenStep, { kind: "ask" }>,
  { consent, request, address, now }: At,
  { page, evidence = [] }: StepContext,
): Promise<string> {
  const shown = page === undefined ? {} : { page };
  const cause = { actor: "customer", reason: step.reason, evidence, ...shown };
  if (step.kind === "leave") {
    if (step.error === "session_expired") {
      await deps.consents.stageNote(tx, consent.value.id, {
        at: now,
        event: "consent.customer_late",
        ...cause,
      });
    }
    return errorUrl(address, step);
  }
  if (step.kind === "reject") {
    deps.consents.stageChange(tx, consent, rejectConsent(consent.value, reasonCodeOf(step), now), cause, now);
    return errorUrl(address, step);
  }
  const authorised = moveConsent(consent.value, "authorise", now);
  const changed = step.chosen === undefined
    ? authorised
    : { ...authorised, payer: step.chosen.payer, selectedAccount: step.chosen.account };
  const code = await stageCode(tx, codeFor(request.value), now);
  deps.consents.stageChange(tx, consent, changed, { ...cause, issued: { code: code.hash } }, now);
  return successUrl(address, code.text);
}

function codeFor(request: PushedRequest): Parameters<typeof stageCode>[1] {
  const { clientId, registration, bank, consentId, redirectUri, codeChallenge, dpopJkt } = request;
  const bound = dpopJkt === undefined ? {} : { dpopJkt };
  return { clientId, registration, bank, consentId, redirectUri, codeChallenge, ...bound };
}
