/**
 * Computes the next URL or the error page of a session's browser if no step can be taken, because the session is over,
 * is another browser's, or the bank's result cannot be used. The URL is always the TPP's (Decision G1). No state
 * changes.
 */
import type { Clock } from "../../../base/kernel/clock.ts";
import { ApiError, type ApiErrorParts } from "../../../base/kernel/api_error.ts";
import { openRequestReads } from "../../../base/store/request_reads.ts";
import type { Store } from "../../../base/store/store.ts";
import type { Consent } from "../consents/consent.ts";
import { findPushedRequest } from "../oauth/pushed_request_store.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { type AuthorizationSession, isLate, stepIfOvertaken } from "./authorization_session.ts";
import { openOutcome } from "./sealed_outcome.ts";
import type { SessionStanding } from "./session_standing.ts";
import { backTo, errorUrl, languagesOf } from "./tpp_redirect.ts";

export interface SessionEndDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly clients: Pick<ClientStore, "find">;
  readonly standing: SessionStanding;
}

export interface SessionEnds {
  /**
   * Returns the next URL of a finished session, for the browser that began it, proven by its cookie or its form token.
   * For one minute this is the same URL as before, because the browser may have lost that response. After that it is
   * the TPP's, with an error.
   *
   * @throws {ApiError} `interaction.finished` if no address of the TPP is left
   */
  finishedUrl(session: AuthorizationSession, browser: AskingBrowser, formToken?: string): Promise<string>;
  /**
   * Returns the next URL after a result that the bank signed for this session but that cannot be used: its times are
   * wrong, its jti was used before, or it is about another consent. The session stays open, because the bank may send
   * a valid one.
   *
   * @throws {ApiError} `interaction.finished` if no address of the TPP is left; otherwise as `answeredBefore`
   */
  unusableUrl(session: AuthorizationSession, browser: AskingBrowser): Promise<string>;
  /**
   * The page for a session whose pushed request was completed by another session, for example in a second tab.
   * Decision G1 redirects customers to the TPP so that every pushed request gets a response. This one already has a
   * response, and a second, contradicting one could undo it at the TPP.
   */
  answeredBefore(session: AuthorizationSession, browser: AskingBrowser, consent: Consent): Promise<ApiError>;
  /** The page that shows an earlier decision that differs from the customer's choice now. */
  decidedBefore(session: AuthorizationSession, decided: EarlierDecision): Promise<ApiError>;
  /**
   * The page for a browser that cannot prove that it began the session. A reader who knows the random id of a session
   * may learn that it is over, but not the decision and not the next URL. Its own browser has lost the cookie by then,
   * so `afterEnd` does not accuse another one.
   */
  notYours(session: AuthorizationSession, detail: string, afterEnd?: string): Promise<ApiError>;
}

interface EarlierDecision {
  readonly accepted: boolean;
  readonly nextUrl?: string | undefined;
}

export function openSessionEnds(deps: SessionEndDeps): SessionEnds {
  const { store, clock, clients, standing } = deps;
  const linkTo = async ({ clientId }: AuthorizationSession): Promise<Pick<ApiErrorParts, "tpp">> =>
    backTo(await clients.find(store, clientId));
  const ends: SessionEnds = {
    finishedUrl: async (session, browser, formToken) => {
      const token = formToken ?? await browser.formToken(session.correlationId);
      browser.forget(session.correlationId);
      const again = await recentUrl(session, token, clock());
      if (again !== null) return again;
      const { address, consent } = await standing.read(session, openRequestReads(store));
      return errorUrl(address, stepIfOvertaken(consent.value) ?? { error: "session_expired" });
    },
    unusableUrl: async (session, browser) => {
      const { address, request, consent } = await standing.read(session, openRequestReads(store));
      if (request.value.completed) throw await ends.answeredBefore(session, browser, consent.value);
      return errorUrl(address, { error: isLate(session, clock()) ? "session_expired" : "server_error" });
    },
    answeredBefore: async (session, browser, consent) => {
      browser.forget(session.correlationId);
      const isLapsed = stepIfOvertaken(consent)?.error === "access_denied"; // the deadline has passed without a decision
      if (!isLapsed) return await ends.decidedBefore(session, { accepted: consent.status !== "Rejected" });
      const parts = { detail: "answered before", ...await linkTo(session), ...languagesOf(session) };
      return new ApiError("interaction.finished", parts);
    },
    decidedBefore: async (session, { accepted, nextUrl }) => {
      const next = nextUrl === undefined ? {} : { nextUrl };
      const parts = { detail: "decided before", ...next, ...await linkTo(session), ...languagesOf(session) };
      return new ApiError(accepted ? "interaction.accepted" : "interaction.refused", parts);
    },
    notYours: async (session, detail, afterEnd = detail) => {
      const request = await findPushedRequest(store, session.requestHash);
      const isOver = session.stage === "finished" || request === null || request.value.completed;
      const parts = await linkTo(session); // in the language of this browser
      if (isOver) return new ApiError("interaction.finished", { detail: afterEnd, ...parts });
      return new ApiError("interaction.not_yours", { detail, ...parts });
    },
  };
  return ends;
}

async function recentUrl(
  { outcome }: AuthorizationSession,
  token: string,
  now: number,
): Promise<string | null> {
  return outcome === undefined || now >= outcome.until ? null : await openOutcome(token, outcome.sealed);
}
