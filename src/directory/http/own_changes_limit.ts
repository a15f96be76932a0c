/**
 * Guard that limits how often a participant's own people get certificates and statements: each one is a history entry
 * that is kept. Administrators are not limited, and people revoke keys without a limit.
 */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { openLimiter } from "../../base/http/limiter.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { DirectoryEnv } from "./request_context.ts";

const AN_HOUR = 20;
const POLICY = { perSecond: AN_HOUR / 3600, burst: AN_HOUR, maxKeys: 10_000 };

/** A guard that counts the changes of each organisation's people together (contract DRC6). */
export function limitOwnChanges(clock: Clock): MiddlewareHandler<DirectoryEnv> {
  const limiter = openLimiter(POLICY, clock);
  return createMiddleware<DirectoryEnv>(async function ownChangesLimited(c, next): Promise<void> {
    const organisation = c.get("organisation");
    const retryAfterSeconds = organisation === undefined ? 0 : limiter.take(organisation);
    if (retryAfterSeconds > 0) {
      const minutes = Math.ceil(retryAfterSeconds / 60);
      throw new ApiError("request.rate_limited", {
        retryAfterSeconds,
        description:
          `A participant's people may make ${AN_HOUR} changes an hour. Try again after ${minutes} min.`,
      });
    }
    await next();
  });
}
