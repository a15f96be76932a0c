/** A host: endpoints behind the middleware of every request. */
import { Hono, type MiddlewareHandler } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { RequestEnv, Surface } from "../../base/http/context.ts";
import { mount } from "../../base/http/endpoint.ts";
import { nameRequest, requestLog } from "../../base/http/host_middleware.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { preciseClock } from "../../base/kernel/clock.ts";
import { FIRST_SEGMENTS } from "../../base/kernel/identifiers.ts";
import { hasHead, type PlatformEndpoint } from "../guards/http/endpoint.ts";
import { answerErrors, type ErrorDeps } from "../guards/http/on_error.ts";
import { spanRequests } from "../guards/http/span_requests.ts";
import { admit, requestMetrics } from "../guards/security/admit.ts";
import type { SharedParts } from "./shared_parts.ts";

/** The middleware of every request of a host, outermost first. */
export type HostMiddleware = readonly MiddlewareHandler<RequestEnv>[];

/**
 * Returns what every request of every host passes first, in this order.
 *
 * @param headers sets the response headers of the host
 * @param admitted how requests are admitted; without `callers`, all of them are of unknown callers
 * @param traced the middleware that records traces, if the host has them
 */
export function hostMiddleware(
  shared: SharedParts,
  headers: MiddlewareHandler<RequestEnv>,
  admitted: Parameters<typeof admit>[0],
  traced: HostMiddleware = [],
): HostMiddleware {
  const { store, metrics, figures } = shared;
  return [
    nameRequest(store),
    ...spanRequests(shared),
    headers,
    requestMetrics({ metrics, figures, elapsed: preciseClock }),
    requestLog(shared),
    ...traced,
    admit(admitted),
  ];
}

/** A host: its endpoints, and the handler of its requests. */
export interface Host {
  readonly endpoints: readonly PlatformEndpoint[];
  fetch(request: Request): Promise<Response>;
}

/** Well-known paths and paths similar to API paths, which people do not open. */
export function isForMachines(path: string): boolean {
  return FIRST_SEGMENTS.get(path.split("/")[1] ?? "")?.forPrograms === true ||
    /\/v\d+(\/|$)|\.oauth2\/v/.test(path);
}

/**
 * Returns the path as it was sent. The router would decode it first, and `/%68ealth` would then reach a path that the
 * proxy blocks. Parameters are decoded when they are read. A hyphen behind the first segment, by which proxies choose, may
 * be encoded (RFC 3986 §6.2.2.2).
 */
function pathAsSent({ url }: Request): string {
  const path = /^[^:]*:\/\/[^/?#]*([^?#]+)/.exec(url)?.[1] ?? "/";
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end) + path.slice(end).replaceAll(/%2D/gi, "-");
}

/** @param surfaceOf the surface of a path that no endpoint has */
export function openHost(
  deps: ErrorDeps & { readonly around: HostMiddleware },
  endpoints: readonly PlatformEndpoint[],
  surfaceOf: (path: string) => Surface,
): Host {
  const app = new Hono<RequestEnv>({ getPath: pathAsSent, router: new TrieRouter() }); // others cannot route /:bank beside /traces
  for (const middleware of deps.around) app.use(middleware);
  mount(app, endpoints, hasHead);
  app.onError(answerErrors(deps));
  app.notFound((c) => {
    c.set("surface", surfaceOf(c.req.path));
    throw new ApiError("request.not_found");
  });
  return { endpoints, fetch: async (request) => await app.fetch(request) };
}
