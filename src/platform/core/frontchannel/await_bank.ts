/**
 * The platform's page on which a browser waits for the bank (contract ARS6). Each visit of the browser that began the
 * session takes the step that the bank's delivered result allows.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { BankClient } from "../registration/client.ts";
import type { ChooseStep } from "./advance_session.ts";
import { type AuthorizationSession, expiredStep, isLate } from "./authorization_session.ts";
import { type DecideDeps, requireSession, type ScreenVisit } from "./decide_consent.ts";
import { screenUrl } from "./screen_url.ts";
import type { SessionSteps } from "./session_steps.ts";

/** What the page names. */
export interface Waiting {
  readonly session: AuthorizationSession;
  readonly bankName: string;
  readonly tppName: string;
}

/**
 * Returns the next URL, or what to wait for.
 *
 * @throws {ApiError} `bank.unknown`, `interaction.*`, `authorization.invalid_request`
 */
export async function awaitBank(
  deps: DecideDeps,
  visit: ScreenVisit,
): Promise<{ readonly leadTo: string } | { readonly wait: Waiting }> {
  const { browser, reads } = visit;
  const { steps } = deps;
  const { bank, session } = await requireSession(deps, visit);
  if (!await browser.holds(session)) {
    throw await steps.notYours(session, "waiting in another browser", "waiting after its end");
  }
  if (session.stage === "finished") return { leadTo: await steps.finishedUrl(session, browser) };
  if (session.stage === "deciding") return { leadTo: screenUrl(deps.authUrl, session) };
  steps.prefetch(session, reads);
  if (session.stage === "delivered") return { leadTo: await steps.continueDelivered(bank, session, visit) };
  const leadTo = await steps.urlIfInactive(bank, session, reads) ?? await lateUrl(steps, session, visit);
  return leadTo === undefined ? { wait: await waitFor(deps, bank, session, visit) } : { leadTo };
}

/** Ends the session if it has expired. Other ends come with the bank's result. */
async function lateUrl(
  steps: SessionSteps,
  session: AuthorizationSession,
  { browser, reads, interactionId }: ScreenVisit,
): Promise<string | undefined> {
  const choose: ChooseStep = ({ session, now }) =>
    session.stage === "at_bank" && isLate(session, now)
      ? expiredStep("waited until the session expired")
      : "stay";
  const taken = await steps.advance(session, choose, { browser, reads, interactionId });
  if (taken.kind === "over") return await steps.finishedUrl(taken.session, browser);
  return taken.kind === "led" ? taken.url : undefined;
}

async function waitFor(
  { clients }: Pick<DecideDeps, "clients">,
  bank: BankClient,
  session: AuthorizationSession,
  { reads }: ScreenVisit,
): Promise<Waiting> {
  const tpp = await clients.find(reads, session.clientId);
  if (tpp === null) throw new ApiError("interaction.finished", "the TPP is gone");
  return { session, bankName: bank.orgName, tppName: tpp.orgName };
}
