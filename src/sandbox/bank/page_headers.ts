/** Security headers of every answer of the banks: no scripts, no framing, no caching, no referrer. */
import type { MiddlewareHandler } from "hono";

export interface PageHeadersDeps {
  readonly authUrl: string;
  readonly banksUrl: string;
}

/** Sets the headers on every response. */
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
 * Chromium checks `form-action` on every redirect after a form post: first the platform, then the TPP's redirect URL,
 * which a bank does not know. Therefore any https site is allowed, and any port of this computer if the platform itself
 * runs on it.
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
