/** Middleware: a span for each request, with spans of its store and its calls below it (Decision O9). */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { beginSpan, type RequestEnv } from "../../../base/http/context.ts";
import { type Clock, preciseClock } from "../../../base/kernel/clock.ts";
import { microseconds, type SpanQueue } from "../../../base/observability/spans.ts";
import { endpointOf, knownMethod, routeOf } from "./endpoint.ts";

export interface SpanRequestDeps {
  /** Undefined if no spans are sent. */
  readonly spans: Pick<SpanQueue, "add"> | undefined;
  readonly clock: Clock;
}

/**
 * Creates the middleware, if spans are sent. A span holds the declared path and ids that are proven, and never what was
 * sent.
 */
export function spanRequests({ spans, clock }: SpanRequestDeps): readonly MiddlewareHandler<RequestEnv>[] {
  if (spans === undefined) return [];
  const spanned = createMiddleware<RequestEnv>(async (c, next) => {
    const [start, began] = [clock(), preciseClock()];
    const trace = c.get("trace");
    const below = beginSpan(trace, start, began);
    await next();
    if (endpointOf(c)?.traffic === "probe") return;
    const { interactionId, traceId, clientId, orgId, bank } = c.get("facts");
    const [method, route, { status }] = [knownMethod(c.req.method), routeOf(c) ?? "none", c.res];
    const attributes = {
      "http.request.method": method,
      "http.route": route,
      "http.response.status_code": status,
      "error.type": trace.rejection?.reason,
      "payment.interaction_id": interactionId,
      "payment.caller_trace_id": traceId,
      "payment.client_id": clientId,
      "payment.org_id": orgId,
      "payment.bank": bank,
      "payment.microseconds": microseconds(trace.measuredMs),
    };
    spans.add(
      {
        name: `${method} ${route}`,
        kind: "server",
        start,
        milliseconds: preciseClock() - began,
        attributes,
        failed: status >= 500,
      },
      below,
      interactionId.replaceAll("-", "").toLowerCase(),
    );
  });
  return [spanned];
}
