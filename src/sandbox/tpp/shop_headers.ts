/**
 * The headers of every shop answer: no script, no framing, nothing cached, forms only to where they must go.
 */
import type { MiddlewareHandler } from "hono";

/** Where a form's answer may lead the browser besides the shop itself. */
export interface FormTargets {
  readonly authUrl: string;
  readonly banksUrl: string;
}

/** Sets the headers. `shopUrl` decides whether https is demanded for the future. */
export function shopHeaders(shopUrl: string, targets: FormTargets): MiddlewareHandler {
  // Chromium holds form-action against each redirect that follows a form, here: platform, then bank.
  const formAction = ["'self'", new URL(targets.authUrl).origin, new URL(targets.banksUrl).origin].join(" ");
  const policy = `default-src 'none'; style-src 'self'; img-src 'self'; form-action ${formAction}; ` +
    "base-uri 'none'; frame-ancestors 'none'";
  return async function headers(c, next): Promise<void> {
    await next();
    c.header("content-security-policy", policy);
    c.header("cache-control", "no-store");
    c.header("referrer-policy", "same-origin"); // no-referrer would make the Origin of our own forms "null"
    c.header("x-content-type-options", "nosniff");
    c.header("x-frame-options", "DENY");
    c.header("cross-origin-opener-policy", "same-origin");
    c.header("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=()");
    if (shopUrl.startsWith("https:")) c.header("strict-transport-security", "max-age=31536000");
  };
}
