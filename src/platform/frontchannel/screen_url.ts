/** The URL of a session's consent screen. */
import { CONSENT_SCREEN_PATH, filledPath } from "../paths.ts";
import type { AuthorizationSession } from "./authorization_session.ts";

/** Returns the URL. It grants no access: the browser also needs the session's cookie. */
export function screenUrl(
  authUrl: string,
  { bank, correlationId }: Pick<AuthorizationSession, "bank" | "correlationId">,
): string {
  return `${authUrl}${filledPath(CONSENT_SCREEN_PATH, { bank })}?flow=${correlationId}`;
}
