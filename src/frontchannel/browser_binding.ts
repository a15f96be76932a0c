/**
 * What ties an interaction to one browser: a cookie of its own with 256 random bits, of which the store holds the
 * hash. Another browser with the same link or the same return URL gets nowhere (FAPI 6.4, 6.5).
 */
import { getCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import { isUuid, newSecret, sha256 } from "../kernel/identifiers.ts";
import { FLOW_SECONDS } from "../profile.ts";
import type { AskingBrowser } from "./asking_browser.ts";
import { openOutcome, sealOutcome } from "./sealed_outcome.ts";

/** A browser may have several flows open; more than these are read when they are wanted. */
const MAX_NAMED = 4;

/** Sets, checks and derives from the cookie. */
export interface BrowserBinding {
  /** A fresh secret for the cookie and the hash to store. */
  fresh(): Promise<{ readonly secret: string; readonly hash: string }>;
  set(c: Context, correlationId: string, secret: string): void;
  /** The browser that asks; it unseals only what it holds. */
  asking(c: Context): AskingBrowser;
  /** The anti-forgery token of this browser for this interaction: only who reads the cookie can compute it. */
  csrfToken(c: Context, correlationId: string): Promise<string>;
}

/** `secure`: whether `auth_url` is https; on plain-http localhost the prefix and Secure are dropped (Decision F2). */
export function openBrowserBinding(secure: boolean): BrowserBinding {
  const nameOf = (correlationId: string): string => `${secure ? "__Host-" : ""}sca-${correlationId}`;
  const secretOf = (c: Context, correlationId: string): string =>
    getCookie(c, nameOf(correlationId)) ?? newSecret(); // no cookie: a secret that opens nothing
  return {
    asking: (c) => ({
      names: () =>
        Object.keys(getCookie(c)).filter((name) => name.startsWith(nameOf("")))
          .map((name) => name.slice(nameOf("").length)).filter(isUuid).slice(0, MAX_NAMED),
      async holds({ correlationId, bindingHash }) {
        const secret = getCookie(c, nameOf(correlationId));
        return secret !== undefined && await sha256(secret) === bindingHash;
      },
      seal: (correlationId, url) => sealOutcome(secretOf(c, correlationId), url),
      unseal: async ({ correlationId, outcome }) =>
        outcome === undefined ? null : await openOutcome(secretOf(c, correlationId), outcome.sealed),
    }),
    async fresh() {
      const secret = newSecret();
      return { secret, hash: await sha256(secret) };
    },
    set(c, correlationId, secret) {
      // Lax, since the customer comes back from the bank's site by a top-level navigation.
      setCookie(c, nameOf(correlationId), secret, {
        path: "/",
        httpOnly: true,
        sameSite: "Lax",
        secure,
        maxAge: FLOW_SECONDS,
      });
    },
    csrfToken: (c, correlationId) => sha256(`csrf ${secretOf(c, correlationId)}`),
  };
}
