/**
 * The middleware that every request of a host passes: its interaction id, its line in the log, and the headers of its
 * response.
 */
import { createMiddleware } from "hono/factory";
import { newTraceNotes, type RequestEnv, traceIdOf } from "./context.ts";
import { isUuid } from "../kernel/identifiers.ts";
import { ApiError } from "../kernel/api_error.ts";
import { openRequestReads } from "../store/request_reads.ts";
import type { Store } from "../store/store.ts";
import { newReplayRecords } from "../store/transaction.ts";
import type { SteadyClock } from "../kernel/clock.ts";
import type { Log } from "../observability/log_events.ts";

// The headers of every response of a host. Responses depend on credentials, so they are not cached by default.

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
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'self'; " +
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

// Sets `x-fapi-interaction-id` on every response: the caller's value if it is a UUID, else a new one (Decision C10).

const HEADER = "x-fapi-interaction-id";

/**
 * Middleware: sets the interaction id and the request's variables. {@link rejectMalformedInteractionId} rejects a
 * malformed id.
 */
export function nameRequest(store: Store): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function named(c, next) {
    const sent = c.req.header(HEADER);
    const interactionId = isUuid(sent) ? sent : crypto.randomUUID();
    const traceId = traceIdOf(c.req.header("traceparent"));
    c.set("interactionId", interactionId);
    c.set("facts", { interactionId, ...(traceId === undefined ? {} : { traceId }) });
    c.set("trace", newTraceNotes());
    c.set("replayRecords", newReplayRecords());
    c.set("reads", openRequestReads(store));
    await next();
    c.res.headers.set(HEADER, c.get("interactionId"));
  });
}

/** @throws {ApiError} if the header was sent and is not a UUID. Its text is never reflected (contract FAPI-G23). */
export function rejectMalformedInteractionId(sent: string | undefined): void {
  if (sent === undefined || isUuid(sent)) return;
  const fault = {
    code: "Header.Invalid",
    path: HEADER,
    message: "x-fapi-interaction-id must be a UUID.",
  } as const;
  throw new ApiError("request.header_invalid", { faults: [fault] });
}

// Logs one line per request: method, path, status, time and interaction id. The query is omitted because it can
// contain a handover JWT.

export function requestLog(
  deps: { readonly log: Log; readonly steady: SteadyClock },
): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function logged(c, next) {
    const began = deps.steady();
    await next();
    deps.log.info("request.answered", {
      ...c.get("facts"),
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      milliseconds: deps.steady() - began,
    });
  });
}
