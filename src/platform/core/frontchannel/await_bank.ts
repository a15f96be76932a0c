/**
 * The platform's page on which a browser waits for the bank (contract ARS6). Each visit of the browser that began the
 * session takes the step that the bank's delivered result allows.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { BankClient } from "../registration/client.ts";
import { advanceSession, type ChooseStep, startStanding } from "./advance_session.ts";
import { answeredBefore, notYours, whereItLed } from "./after_session.ts";
import { type AuthorizationSession, expired, isLate } from "./authorization_session.ts";
import { type DecideDeps, findSession, type ScreenVisit } from "./decide_consent.ts";
import { goOn } from "./go_on.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import { screenUrl } from "./screen_url.ts";

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
  const { bank, session } = await findSession(deps, visit);
  if (!await browser.holds(session)) throw await notYours(deps, session, "waiting in another browser");
  if (session.stage === "finished") return { leadTo: await whereItLed(deps, session, browser) };
  if (session.stage === "deciding") return { leadTo: screenUrl(deps.authUrl, session) };
  startStanding(deps, session, reads);
  if (session.stage === "delivered") return { leadTo: await goOn(deps, bank, session, visit) };
  const wayOut = await wayOutOfInactive(deps, bank, session, reads) ?? await leadLate(deps, session, visit);
  return wayOut === undefined ? { wait: await waitFor(deps, bank, session, visit) } : { leadTo: wayOut };
}

/** Ends the session if it has expired. Other ends come with the bank's result. */
async function leadLate(
  deps: DecideDeps,
  session: AuthorizationSession,
  { browser, reads, interactionId }: ScreenVisit,
): Promise<string | undefined> {
  const choose: ChooseStep = ({ session, now }) =>
    session.stage === "at_bank" && isLate(session, now)
      ? expired("waited until the session expired")
      : "stay";
  const taken = await advanceSession(deps, session.correlationId, choose, { browser, reads, interactionId });
  if (taken.kind === "answered") throw await answeredBefore(deps, session, browser, taken.consent);
  if (taken.kind === "over") return await whereItLed(deps, taken.session, browser);
  return taken.kind === "led" ? taken.url : undefined;
}

async function waitFor(
  deps: DecideDeps,
  bank: BankClient,
  session: AuthorizationSession,
  { reads }: ScreenVisit,
): Promise<Waiting> {
  const tpp = await deps.clients.find(reads, session.clientId);
  if (tpp === null) throw new ApiError("interaction.finished", "the TPP is gone");
  return { session, bankName: bank.orgName, tppName: tpp.orgName };
}
