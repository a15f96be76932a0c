/**
 * Guard that limits how often one client may read. A client is a network, because one IPv6 customer has many addresses.
 */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { Clock } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
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

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const IPV6 = /^[0-9a-f:]{2,39}$/i;
/** The last 32 bits of an IPv4-mapped address (RFC 4291 §2.5.5.2). */
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/**
 * The network of a client.
 *
 * @param told `X-Real-IP` as set by the proxy; only the proxy can reach the listener
 * @param connected the peer address of the connection
 */
export function clientNetwork(told: string | undefined, connected: string): string {
  return networkOf(told?.trim() ?? "") ?? networkOf(connected) ?? connected;
}

function networkOf(address: string): string | undefined {
  const [, mapped] = MAPPED.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  if (IPV4.test(address)) return address;
  if (!IPV6.test(address) || !address.includes(":")) return undefined;
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head.split(":");
  const after = tail === undefined ? [] : tail.split(":");
  const missing = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const groups = tail === undefined ? before : [...before, ...missing, ...after];
  return groups.slice(0, 4).map((group) => Number.parseInt(group || "0", 16).toString(16)).join(":");
}
