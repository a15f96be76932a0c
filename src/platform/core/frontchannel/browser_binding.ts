/**
 * Binds an authorization session to one browser by a cookie with 256 random bits. The store has only the hash.
 * Another browser with the same link or the same return URL cannot continue the session (contract AZ11, BR9; FAPI 2.0
 * §6.4, §6.5).
 */
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import { isUuid, newSecret, sha256 } from "../../../base/kernel/identifiers.ts";
import { FLOW_SECONDS, LATE_CUSTOMER_SECONDS } from "../../../base/profile.ts";
import type { AuthorizationSession } from "./authorization_session.ts";

/** How many of the browser's newest sessions are read. */
const MAX_NAMED = 4;
/** How many sessions a browser can have. More cookies would make its requests too large for a proxy. */
const MAX_COOKIES = 20;

/** Sets, checks and derives values from the cookie. */
export interface BrowserBinding {
  /** Returns a new secret for the cookie and the hash to store. */
  fresh(): Promise<{ readonly secret: string; readonly hash: string }>;
  /** Sets the cookie of a new session, and clears the oldest ones of a browser that has too many. */
  set(c: Context, correlationId: string, secret: string): void;
  /** Returns the browser that sent the request. */
  asking(c: Context): AskingBrowser;
}

/**
 * Opens the binding.
 *
 * @param secure whether `auth_url` is https. On plain-http localhost the cookie has no prefix and no Secure (Decision
 * F2).
 */
export function openBrowserBinding(secure: boolean): BrowserBinding {
  const nameOf = (correlationId: string): string => `${secure ? "__Host-" : ""}sca-${correlationId}`;
  const secretOf = (c: Context, correlationId: string): string | undefined =>
    getCookie(c, nameOf(correlationId));
  // Lax, because the customer returns from the bank's site by a top-level navigation.
  const attributes = { path: "/", httpOnly: true, sameSite: "Lax", secure } as const;
  // Browsers send older cookies first (RFC 6265 §5.4).
  const named = (c: Context): string[] =>
    Object.keys(getCookie(c)).filter((name) => name.startsWith(nameOf("")))
      .map((name) => name.slice(nameOf("").length)).filter(isUuid);
  const forget = (c: Context, correlationId: string): void =>
    void deleteCookie(c, nameOf(correlationId), attributes);
  return {
    asking: (c) => ({
      names: () => named(c).slice(-MAX_NAMED),
      async holds({ correlationId, bindingHash }) {
        const own = secretOf(c, correlationId);
        return own !== undefined && await sha256(own) === bindingHash;
      },
      formToken: (correlationId) => sha256(`csrf ${secretOf(c, correlationId) ?? newSecret()}`),
      forget(correlationId) {
        if (secretOf(c, correlationId) !== undefined) forget(c, correlationId);
      },
    }),
    async fresh() {
      const own = newSecret();
      return { secret: own, hash: await sha256(own) };
    },
    set(c, correlationId, own) {
      for (const oldest of named(c).slice(0, -(MAX_COOKIES - 1))) forget(c, oldest);
      // As long as the session is stored, because only the cookie lets a late customer return to the TPP (Decision
      // G1).
      setCookie(c, nameOf(correlationId), own, {
        ...attributes,
        maxAge: FLOW_SECONDS + LATE_CUSTOMER_SECONDS,
      });
    },
  };
}

// The browser that sends the request. Each of its authorization sessions has its own cookie, and no other browser
// gets any information about the session.

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
