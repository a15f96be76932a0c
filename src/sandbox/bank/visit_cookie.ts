/** The cookie with a visit's secret: one per visit, limited to that visit's path, HttpOnly. */
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { FLOW_SECONDS } from "../../client/party/profile.ts";
import { LATE_CUSTOMER_SECONDS, type ScaSession } from "./sessions.ts";

/** Sets the cookie of this visit. */
export function giveVisitCookie(c: Context, banksUrl: string, session: ScaSession): void {
  setCookie(c, cookieName(banksUrl), session.secret, {
    path: visitPath(session.bankCode, session.flow),
    httpOnly: true,
    // Decision F2: plain-http localhost cannot have Secure cookies in every browser.
    secure: banksUrl.startsWith("https:"),
    // Lax: the customer arrives by a redirect from another site.
    sameSite: "Lax",
    maxAge: FLOW_SECONDS + LATE_CUSTOMER_SECONDS,
  });
}

/** The secret that the browser sent, if any. */
export function readVisitCookie(c: Context, banksUrl: string): string | undefined {
  return getCookie(c, cookieName(banksUrl));
}

/** Path of a visit's pages. */
export function visitPath(bankCode: string, flow: string): string {
  return `/${bankCode}/sca/${flow}`;
}

/** Path of the pages of the app on another device. */
export function appPath(bankCode: string, app: string): string {
  return `/${bankCode}/app/${app}`;
}

// A `__Host-` cookie could not be limited to one visit's path.
function cookieName(banksUrl: string): string {
  return banksUrl.startsWith("https:") ? "__Secure-bank_visit" : "bank_visit";
}
