/** Where the platform's consent screen of an interaction is. */
import type { AuthorizationSession } from "./authorization_session.ts";

/** The last segment of its path, below the bank's. */
export const SCREEN_SEGMENT = "authorization.consent.oauth2";

/** The address; the browser's cookie opens it, not the address. */
export function screenUrl(
  authUrl: string,
  { bank, correlationId }: Pick<AuthorizationSession, "bank" | "correlationId">,
): string {
  return `${authUrl}/${bank}/${SCREEN_SEGMENT}?flow=${correlationId}`;
}
