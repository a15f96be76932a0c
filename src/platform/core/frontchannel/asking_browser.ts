/**
 * The browser that sends the request. Each of its authorization sessions has its own cookie, and no other browser
 * gets any information about the session.
 */
import type { AuthorizationSession } from "./authorization_session.ts";

export interface AskingBrowser {
  /**
   * Correlation ids of the newest sessions that its cookies name, a few at most. Check them with `holds`.
   */
  names(): readonly string[];
  /** Whether this browser began the session. */
  holds(session: AuthorizationSession): Promise<boolean>;
  /**
   * The token in the forms of this session. It prevents forged posts and encrypts the session's next URL. If the
   * browser does not have the session's cookie, the token is random and useless.
   */
  formToken(correlationId: string): Promise<string>;
  /** Clears the session's cookie in the response, if the browser has it. */
  forget(correlationId: string): void;
}
