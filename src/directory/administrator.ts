/**
 * Guard: only requests with an administrator's credential pass (RFC 6750 §2.1). The history records its name. The
 * response does not show why a credential is wrong. Only wrong credentials are limited, so a flood of guesses does not
 * lock out administrators.
 */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { Clock } from "../base/kernel/clock.ts";
import { ApiError } from "../base/kernel/api_error.ts";
import type { Administrators } from "./administrators.ts";
import type { DirectoryLog } from "./directory.ts";
import { openLimiter } from "./limiter.ts";
import type { DirectoryEnv } from "./request_context.ts";

// Decision F8: not hono/bearer-auth.
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;
/** Wrong tokens per credential: a burst of ten, then one every six seconds. */
const A_CREDENTIAL = { perSecond: 1 / 6, burst: 10, maxKeys: 1001 };
/** Wrong tokens of all kinds. */
const TOGETHER = { perSecond: 1, burst: 60, maxKeys: 1 };
/** Used for every unknown credential, so that an attacker cannot fill the memory with invented ids. */
const UNKNOWN = "unknown";

/** A guard for the routes of administrators. */
export function requireAdministrator(
  deps: { readonly administrators: Administrators; readonly clock: Clock; readonly log: DirectoryLog },
): MiddlewareHandler<DirectoryEnv> {
  const aCredential = openLimiter(A_CREDENTIAL, deps.clock);
  const together = openLimiter(TOGETHER, deps.clock);
  return createMiddleware<DirectoryEnv>(async function administrator(c, next): Promise<void> {
    const token = BEARER.exec(c.req.header("authorization") ?? "")?.[1];
    if (token === undefined) throw new ApiError("directory.unauthorized", "no bearer token");
    const { credential = UNKNOWN, name } = await deps.administrators.identify(token);
    if (name === undefined) {
      const retryAfterSeconds = Math.max(aCredential.take(credential), together.take(""));
      if (retryAfterSeconds > 0) throw new ApiError("request.rate_limited", { retryAfterSeconds });
      deps.log.warn("directory.wrong_credential", { requestId: c.get("requestId"), credential });
      throw new ApiError("directory.unauthorized", "wrong token");
    }
    c.set("administrator", name);
    await next();
  });
}
