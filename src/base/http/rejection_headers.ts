/** The headers of every rejection: not cached, and what the caller needs for the next attempt. */
import type { ApiError } from "../kernel/api_error.ts";

/** @param rejection undefined for a bug */
export function rejectionHeaders(rejection: ApiError | undefined): Headers {
  const headers = new Headers({ "cache-control": "no-store" });
  if (rejection?.parts.allow !== undefined) headers.set("allow", rejection.parts.allow);
  if (rejection?.parts.retryAfterSeconds !== undefined) {
    headers.set("retry-after", String(rejection.parts.retryAfterSeconds));
  }
  const quota = rejection?.parts.quota;
  if (quota !== undefined) headers.set("ratelimit-policy", `"${quota.name}";q=${quota.most}`);
  if (rejection?.reason === "request.incomplete") headers.set("connection", "close");
  return headers;
}
