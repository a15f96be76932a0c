/** Security headers of every answer of the banks: no scripts, no framing, no caching, no referrer. */
import type { MiddlewareHandler } from "hono";

/** What the headers depend on. */
export interface PageHeadersDeps {
  readonly authUrl: string;
  readonly banksUrl: string;
}

/** Sets the headers on whatever the routes answer. */
export function pageHeaders(deps: PageHeadersDeps): MiddlewareHandler {
  const policy = contentSecurityPolicy(deps);
  const isHttps = deps.banksUrl.startsWith("https:");
  return async function setPageHeaders(c, next): Promise<void> {
    await next();
    c.header("content-security-policy", policy);
    c.header("referrer-policy", "no-referrer");
    c.header("x-content-type-options", "nosniff");
    c.header("x-frame-options", "DENY");
    c.header("cross-origin-opener-policy", "same-origin");
    if (isHttps) c.header("strict-transport-security", "max-age=63072000; includeSubDomains");
    if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
  };
}

/**
 * Chromium checks `form-action` on every hop after a form post: the platform first, and then wherever it sends
 * the browser, the TPP's redirect URL, which a bank does not know. So any https site is allowed there, and any
 * port of this computer where the platform itself is on it.
 */
function contentSecurityPolicy({ authUrl }: PageHeadersDeps): string {
  const { origin, protocol } = new URL(authUrl);
  const onwards = protocol === "https:" ? "https:" : "https: http://localhost:* http://127.0.0.1:*";
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action 'self' ${origin} ${onwards}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
