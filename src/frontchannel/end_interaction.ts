/**
 * The end of an interaction, the same for both ways there: consent `Authorized` with a code, or `Rejected`; the
 * interaction finished; the pushed request completed; the bank's JWT spent: one commit (checklist AZ15, BR15).
 */
import { type Consent, moved } from "../consents/consent.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import type { Clock } from "../kernel/clock.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { AuthorizationCodeStore } from "../oauth/authorization_code_store.ts";
import type { PushedRequest } from "../oauth/pushed_request.ts";
import type { PushedRequestStore } from "../oauth/pushed_request_store.ts";
import { CODE_SECONDS } from "../profile.ts";
import type { Entry, Store } from "../store/store.ts";
import { begin, commit, type Markers, type Transaction } from "../store/transaction.ts";
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

/** Seals where the browser goes to that browser, for a second click. */
export type SealOutcome = (url: string) => Promise<string>;

const MAX_ATTEMPTS = 5;

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
  seal?: SealOutcome,
): Promise<string | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const now = deps.clock(); // read once: a deadline has passed for all of an attempt or for none
    const { interaction, request, consent } = await current({ ...deps, clock: () => now }, correlationId);
    const step = lateStep(consent.value) ?? choose(consent.value);
    if (step === "stay") return null;
    const tx = begin(markers);
    deps.requests.stageCompletion(tx, request);
    const url = await stageOutcome(deps, tx, step, consent, request.value, now);
    const outcome = seal === undefined
      ? {}
      : { outcome: { sealed: await seal(url), until: now + CODE_SECONDS * 1000 } };
    deps.interactions.stageChange(tx, interaction, { ...interaction.value, stage: "finished", ...outcome });
    if (await commit(deps.store, deps.clock, tx)) return url;
  }
  throw new Refusal("interaction.finished", "contended");
}

async function current(deps: EndDeps, correlationId: string): Promise<{
  interaction: Entry<Interaction>;
  request: Entry<PushedRequest>;
  consent: Entry<Consent>;
}> {
  const interaction = await deps.interactions.find(correlationId);
  if (interaction === null || interaction.value.stage === "finished") {
    throw new Refusal("interaction.finished");
  }
  const request = await deps.requests.findByHash(interaction.value.requestHash);
  if (request === null || request.value.completed) {
    throw new Refusal("interaction.finished", "request completed");
  }
  return { interaction, request, consent: await readConsent(deps, request.value.consentId, request.value) };
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
  consent: Entry<Consent>,
  request: PushedRequest,
  now: number,
): Promise<string> {
  const cause = { actor: "customer", reason: step.reason };
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
