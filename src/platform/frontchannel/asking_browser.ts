/** The browser that asks, known by a cookie for each of its authorization sessions. No other browser learns anything. */
import type { AuthorizationSession } from "./authorization_session.ts";

/** What a cookie can prove. */
export interface AskingBrowser {
  /** Correlation ids of the newest sessions that its cookies name, a few at most: proves nothing. */
  names(): readonly string[];
  /** Whether this browser began the session. */
  holds(interaction: AuthorizationSession): Promise<boolean>;
  /**
   * The token in the forms of this session, only for this browser: against forged posts, and to seal where the session
   * led. Random, so that it opens nothing, if the browser has no cookie.
   */
  formToken(correlationId: string): Promise<string>;
  /** Has the answer clear the session's cookie, if the browser has it: the session is over. */
  forget(correlationId: string): void;
}
