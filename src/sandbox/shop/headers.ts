/**
 * The headers of every shop answer: no script but the shop's own file where a page asks for it, no framing, nothing
 * cached, forms only to where they must go.
 */
import type { MiddlewareHandler } from "hono";

/** Where a form's answer may lead the browser besides the shop itself. */
export interface FormTargets {
  readonly authUrl: string;
  readonly banksUrl: string;
}

/** What routes may tell the headers. */
export interface ShopEnv {
  /** The page runs a script of the shop's, which asks the shop alone. */
  readonly Variables: { ownScript?: boolean };
}

/** Sets the headers. `shopUrl` decides whether https is demanded for the future. */
export function shopHeaders(shopUrl: string, targets: FormTargets): MiddlewareHandler<ShopEnv> {
  // Chromium holds form-action against each redirect that follows a form, here: platform, then bank.
  const formAction = ["'self'", new URL(targets.authUrl).origin, new URL(targets.banksUrl).origin].join(" ");
  const policy = `default-src 'none'; style-src 'self'; img-src 'self'; form-action ${formAction}; ` +
    "base-uri 'none'; frame-ancestors 'none'";
  return async function headers(c, next): Promise<void> {
    await next();
    const scripts = c.get("ownScript") ? "; script-src 'self'; connect-src 'self'" : "";
    c.header("content-security-policy", policy + scripts);
    c.header("cache-control", "no-store");
    c.header("referrer-policy", "same-origin"); // no-referrer would make the Origin of our own forms "null"
    c.header("x-content-type-options", "nosniff");
    c.header("x-frame-options", "DENY");
    c.header("cross-origin-opener-policy", "same-origin");
    c.header("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=()");
    if (shopUrl.startsWith("https:")) c.header("strict-transport-security", "max-age=31536000");
  };
}
