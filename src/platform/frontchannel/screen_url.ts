/** The URL of a session's consent screen. */
import type { AuthorizationSession } from "./authorization_session.ts";

/** Last segment of its path, below the bank's. */
export const SCREEN_SEGMENT = "authorization.consent.oauth2";

/** Returns the URL. It grants no access: the browser also needs the session's cookie. */
export function screenUrl(
  authUrl: string,
  { bank, correlationId }: Pick<AuthorizationSession, "bank" | "correlationId">,
): string {
  return `${authUrl}/${bank}/${SCREEN_SEGMENT}?flow=${correlationId}`;
}
