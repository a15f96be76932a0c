/** Guard: how often one client may read. A client is a network, since an IPv6 customer has as many addresses as it likes. */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { Clock } from "../base/kernel/clock.ts";
import { ApiError } from "../base/kernel/api_error.ts";
import { clientNetwork } from "./client_network.ts";
import { openLimiter } from "./limiter.ts";
import type { DirectoryEnv } from "./request_context.ts";

/** Requests of one client: this many a second, and this many at once. */
export interface PublicLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** The default limit. */
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
