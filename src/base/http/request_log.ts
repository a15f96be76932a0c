/**
 * Logs one line per request: method, path, status, time and interaction id. The query is omitted because it can
 * contain a handover JWT.
 */
import { createMiddleware } from "hono/factory";
import type { SteadyClock } from "../kernel/clock.ts";
import type { Log } from "../observability/log_events.ts";
import type { RequestEnv } from "./context.ts";

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
