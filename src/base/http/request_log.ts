/** One line a request: method, path without its query (it can carry a hand-over JWT), status, time, interaction id. */
import { createMiddleware } from "hono/factory";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../observability/log.ts";
import type { RequestEnv } from "./context.ts";

/** Middleware that logs each answered request. */
export function requestLog(
  deps: { readonly log: Log; readonly steady: Clock },
): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function logged(c, next) {
    const began = deps.steady();
    await next();
    deps.log.info("request.answered", {
      interactionId: c.get("interactionId"),
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      milliseconds: deps.steady() - began,
    });
  });
}
