/**
 * Security headers of every shop response: no scripts except the shop's own on pages that use it, no framing, no
 * caching, forms only to the listed targets.
 */
import type { MiddlewareHandler } from "hono";

/** Origins besides the shop to which a form's redirects may lead. */
export interface FormTargets {
  readonly authUrl: string;
  readonly banksUrl: string;
}

/** Variables that routes set for the headers. */
export interface ShopEnv {
  /** The page runs the shop's own script, which connects to the shop only. */
  readonly Variables: { ownScript?: boolean };
}

/** Sets the headers. `shopUrl` decides whether HSTS is sent. */
export function shopHeaders(shopUrl: string, targets: FormTargets): MiddlewareHandler<ShopEnv> {
  // Chromium applies form-action to each redirect that follows a form post, here to the platform and the bank.
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
