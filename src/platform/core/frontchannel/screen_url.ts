/** The URL of a session's consent screen. */
import { CONSENT_SCREEN_PATH, filledPath, WAITING_PATH } from "../../config/paths.ts";
import type { Language } from "../../../pages/language.ts";
import type { AuthorizationSession } from "./authorization_session.ts";

/** Returns the URL. It grants no access: the browser also needs the session's cookie. */
export function screenUrl(
  authUrl: string,
  { bank, correlationId }: Pick<AuthorizationSession, "bank" | "correlationId">,
): string {
  return `${authUrl}${filledPath(CONSENT_SCREEN_PATH, { bank })}?flow=${correlationId}`;
}

/** Returns the URL of the page on which the session's browser waits for the bank (contract ARS6). */
export function waitingUrl(
  authUrl: string,
  { bank, correlationId }: Pick<AuthorizationSession, "bank" | "correlationId">,
): string {
  return `${authUrl}${filledPath(WAITING_PATH, { bank })}?flow=${correlationId}`;
}

const PROBLEM = { name: "problem", account: "account" } as const;

/** Returns the URL of the same screen, which asks for an account because the customer has accepted without one. */
export function screenUrlWithoutAccount(
  authUrl: string,
  session: Pick<AuthorizationSession, "bank" | "correlationId">,
  language: Language,
): string {
  return `${screenUrl(authUrl, session)}&lang=${language}&${PROBLEM.name}=${PROBLEM.account}`;
}

/** Whether the query of the screen's URL says that an account is missing. */
export function isAccountMissing(query: ReadonlyMap<string, string>): boolean {
  return query.get(PROBLEM.name) === PROBLEM.account;
}
