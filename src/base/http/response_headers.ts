/** The headers of every response of a host. Responses depend on credentials, so they are not cached by default. */
import { createMiddleware } from "hono/factory";
import type { RequestEnv } from "./context.ts";

/**
 * API host: `no-store` unless the route sets another value (RFC 6749 §5.1, RFC 9440 §2.4), and no content sniffing.
 */
export const apiHeaders = createMiddleware<RequestEnv>(async function setApiHeaders(c, next) {
  await next();
  const headers = c.res.headers;
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  headers.set("x-content-type-options", "nosniff");
  if (c.get("surface") === "resource" && headers.get("content-type") === "application/json") {
    headers.set("content-type", "application/json; charset=utf-8"); // contract HD7
  }
});

/** No framing, no referrer, no content sniffing, and the policy unless the route has set one. */
export function protectPage(headers: Headers, contentSecurityPolicy: string): void {
  if (!headers.has("content-security-policy")) headers.set("content-security-policy", contentSecurityPolicy);
  headers.set("referrer-policy", "no-referrer");
  headers.set("x-content-type-options", "nosniff");
  headers.set("x-frame-options", "DENY");
  headers.set("cross-origin-opener-policy", "same-origin"); // a page that opened this one cannot control it
}

/** Of a page of the browser host unless its route has set another one. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

/** Browser host: no framing, no referrer, and no content from other origins (contract AZ12; RFC 9700 §4.2, §4.16). */
export const browserHeaders = createMiddleware(async function setBrowserHeaders(c, next) {
  await next();
  const headers = c.res.headers;
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  protectPage(headers, CONTENT_SECURITY_POLICY);
  // Browsers ignore HSTS over plain HTTP, so the sandbox may send it too (FAPI 2.0 §5.2.3 item 1).
  headers.set("strict-transport-security", "max-age=63072000; includeSubDomains; preload");
});
