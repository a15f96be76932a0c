/**
 * The end of an interaction, the same for both ways there: consent `Authorized` with a code, or `Rejected`; the
 * interaction finished; the pushed request completed; the bank's JWT spent: one commit (checklist AZ15, BR15).
 */
import { type Consent, moved } from "../consents/consent.ts";
import type { Cause, ConsentStore } from "../consents/consent_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import type { Clock } from "../kernel/clock.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { AuthorizationCodeStore } from "../oauth/authorization_code_store.ts";
import type { PushedRequest } from "../oauth/pushed_request.ts";
import type { PushedRequestStore } from "../oauth/pushed_request_store.ts";
import type { ShownPage } from "../observability/audit_trail.ts";
import { CODE_SECONDS } from "../profile.ts";
import type { Entry, Reader, Store } from "../store/store.ts";
import { begin, commit, type Markers, type Transaction, untilCommitted } from "../store/transaction.ts";
import type { AskingBrowser } from "./asking_browser.ts";
import type { AuthorizationError, Interaction, Step } from "./interaction.ts";
import type { InteractionStore } from "./interaction_store.ts";
import { addressOf } from "./start_authorization.ts";
import { errorUrl, successUrl } from "./tpp_redirect.ts";

/** What ending needs. */
export interface EndDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly consents: ConsentStore;
  readonly interactions: InteractionStore;
  readonly requests: PushedRequestStore;
  readonly codes: AuthorizationCodeStore;
  readonly authUrl: string;
}

/** A step that ends the interaction. */
export type LastStep = Exclude<Step, { kind: "ask" }>;

/** Chooses the step from the consent as it stands; asked again when a parallel change came first. */
export type ChooseStep = (consent: Consent) => LastStep | "stay";

/** What an end leaves behind, beside its step. */
export interface Traces {
  /** Which browser is sent to the TPP: it may be sent there again for a minute. */
  readonly browser: AskingBrowser;
  /** What the customer decided on, where it was a page of the platform's, for the consent's history. */
  readonly page?: ShownPage;
  /** What the request has read: good for the first attempt. */
  readonly reads?: Reader;
}

/**
 * Ends the interaction and says where the browser goes; null where the chosen step does not end it.
 *
 * @throws {Refusal} `interaction.finished` where it, or another flow of the same request, has ended before
 */
export async function endInteraction(
  deps: EndDeps,
  correlationId: string,
  markers: Markers,
  choose: ChooseStep,
  { browser, page, reads }: Traces,
): Promise<string | null> {
  return await untilCommitted("authorization session", async (isFirst) => {
    const now = deps.clock(); // read once: a deadline has passed for all of an attempt or for none
    const from = isFirst ? reads : undefined;
    const { interaction, request, consent } = await current(
      { ...deps, clock: () => now },
      correlationId,
      from,
    );
    const step = lateStep(consent.value) ?? choose(consent.value);
    if (step === "stay") return null;
    const tx = begin(markers);
    deps.requests.stageCompletion(tx, request);
    const cause = { actor: "customer", reason: step.reason, ...(page === undefined ? {} : { page }) };
    const url = await stageOutcome(deps, tx, step, { consent, request: request.value, cause, now });
    const outcome = { sealed: await browser.seal(correlationId, url), until: now + CODE_SECONDS * 1000 };
    deps.interactions.stageChange(tx, interaction, { ...interaction.value, stage: "finished", outcome });
    return await commit(deps.store, deps.clock, tx) ? url : undefined;
  });
}

async function current(deps: EndDeps, correlationId: string, from?: Reader): Promise<{
  interaction: Entry<Interaction>;
  request: Entry<PushedRequest>;
  consent: Entry<Consent>;
}> {
  const interaction = await deps.interactions.find(correlationId, from);
  if (interaction === null || interaction.value.stage === "finished") {
    throw new Refusal("interaction.finished");
  }
  const request = await deps.requests.find(interaction.value.requestHash, from);
  if (request === null || request.value.completed) {
    throw new Refusal("interaction.finished", "request completed");
  }
  const consent = await readConsent(deps, request.value.consentId, request.value, from);
  return { interaction, request, consent };
}

/** A consent that nobody can decide on any more: its deadline has passed, or another flow has decided it. */
function lateStep(consent: Consent): LastStep | undefined {
  if (consent.status === "AwaitingAuthorisation") return undefined;
  const error: AuthorizationError = consent.statusUpdatedAt === consent.authoriseBy
    ? "access_denied"
    : "invalid_request";
  return { kind: "reject", error, reason: "consent decided before" };
}

async function stageOutcome(
  deps: EndDeps,
  tx: Transaction,
  step: LastStep,
  { consent, request, cause, now }: {
    readonly consent: Entry<Consent>;
    readonly request: PushedRequest;
    readonly cause: Cause;
    readonly now: number;
  },
): Promise<string> {
  const to = addressOf(deps.authUrl, request);
  if (step.kind === "authorise") {
    const authorised = moved(consent.value, "authorise", now);
    const changed = step.chosen === undefined
      ? authorised
      : { ...authorised, payer: step.chosen.payer, selectedAccount: step.chosen.account };
    deps.consents.stageChange(tx, consent, changed, cause, now);
    return successUrl(to, await deps.codes.stageIssue(tx, codeFor(request), now));
  }
  if (consent.value.status === "AwaitingAuthorisation") {
    deps.consents.stageChange(tx, consent, moved(consent.value, "reject", now), cause, now);
  }
  return errorUrl(to, step.error);
}

function codeFor(request: PushedRequest): Parameters<AuthorizationCodeStore["stageIssue"]>[1] {
  const { clientId, bank, consentId, redirectUri, codeChallenge, dpopJkt } = request;
  return {
    clientId,
    bank,
    consentId,
    redirectUri,
    codeChallenge,
    ...(dpopJkt === undefined ? {} : { dpopJkt }),
  };
}
