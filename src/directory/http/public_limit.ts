/**
 * Guard that limits how often one client may read. A client is a network, because one IPv6 customer has many addresses.
 */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { Clock } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { clientNetwork } from "./client_network.ts";
import { openLimiter } from "../../base/kernel/recently_used.ts";
import type { DirectoryEnv } from "./request_context.ts";

/** Requests of one client: rate per second and burst. */
export interface PublicLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export const USUAL_PUBLIC_LIMIT: PublicLimit = { perSecond: 50, burst: 200 };

const MAX_CLIENTS = 10_000;

/** A guard for public routes. It counts only requests whose sender's address is known. */
export function limitPublic(limit: PublicLimit, clock: Clock): MiddlewareHandler<DirectoryEnv> {
  const limiter = openLimiter({ ...limit, maxKeys: MAX_CLIENTS }, clock);
  return createMiddleware<DirectoryEnv>(async function limited(c, next): Promise<void> {
    const { address } = c.env;
    if (address !== undefined) {
      const retryAfterSeconds = limiter.take(clientNetwork(c.req.header("x-real-ip"), address));
      if (retryAfterSeconds > 0) throw new ApiError("request.rate_limited", { retryAfterSeconds });
    }
    await next();
  });
}
