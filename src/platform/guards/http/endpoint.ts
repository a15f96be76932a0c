/** Declares the platform's endpoints: `base/http/endpoint.ts` with a surface and the traffic that admits them. */
import type { Context } from "hono";
import {
  type Check,
  type CheckedContext,
  type Endpoint,
  endpointsAt,
  honoPath,
  methodOf,
} from "../../../base/http/endpoint.ts";
import type { RequestEnv, Surface } from "../../../base/http/context.ts";
import { FIRST_SEGMENTS } from "../../../base/kernel/identifiers.ts";
import { READINESS_PATH } from "../../config/paths.ts";
import type { Traffic } from "./admission.ts";
import { createMiddleware } from "hono/factory";
import { acceptsJson } from "../../../base/http/body.ts";
import { isHttpDate } from "../../../base/kernel/date_time.ts";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";
import { rejectMalformedInteractionId } from "../../../base/http/host_middleware.ts";

export interface PlatformEndpoint extends Endpoint {
  readonly surface: Surface;
  readonly traffic: Traffic;
}

/**
 * Declares an endpoint.
 *
 * @param checks in the order in which they run
 * @throws {Error} if the first segment of a fixed path is not reserved, or is not for this traffic
 */
export function endpoint<P extends string, const C extends readonly Check[]>(
  surface: Surface,
  traffic: Traffic,
  route: Endpoint["route"] & { readonly path: P },
  checks: C,
  handle: (c: CheckedContext<RequestEnv, C, P>) => Response | Promise<Response>,
): PlatformEndpoint {
  const first = route.path.split("/")[1] ?? "";
  if (first !== "{bank}") requireReserved(route.path, first, traffic);
  return { surface, traffic, route, checks, handle };
}

/** Traffic of paths that the proxies close. */
const OPERATORS_LISTENER: ReadonlySet<Traffic> = new Set(["operator", "person", "probe"]);

function requireReserved(path: string, first: string, traffic: Traffic): void {
  const segment = FIRST_SEGMENTS.get(first);
  if (segment === undefined) throw new Error(`${path}: reserve ${first} in identifiers.ts`);
  if ((segment.zone === "operator") !== OPERATORS_LISTENER.has(traffic)) {
    throw new Error(`${path}: the proxies close the paths of operators alone`);
  }
}

/** Anyone may read them, and reading has no effect. */
export const PUBLIC: ReadonlySet<Traffic> = new Set(["public", "probe"]);

/** Whether HEAD is answered like GET: of everything that anyone may read (RFC 9110 §9.1; contract MD13). */
export function hasHead({ traffic, route }: PlatformEndpoint): boolean {
  return PUBLIC.has(traffic) || route.path === READINESS_PATH;
}

/** Returns the surface of the request's path, and the traffic unless the path lacks the method; undefined without an endpoint. */
export function endpointOf(
  c: Context,
): { readonly surface: Surface; readonly traffic: Traffic | undefined } | undefined {
  const at = endpointsAt(c) as ReadonlyMap<string, PlatformEndpoint> | undefined; // the platform mounts no others
  const { method } = c.req;
  const get = method === "HEAD" ? at?.get("GET") : undefined;
  const own = get !== undefined && hasHead(get) ? get : at?.get(method);
  const [any] = at?.values() ?? [];
  return any === undefined ? undefined : { surface: any.surface, traffic: own?.traffic };
}

/** Returns the declared path of the request's endpoint, or undefined without one. It never contains what was sent. */
export function routeOf(c: Context): string | undefined {
  const [any] = endpointsAt(c)?.values() ?? [];
  return any?.route.path;
}

/** An endpoint as tests and tools list it. */
export interface MountedEndpoint {
  readonly method: string;
  /** In Hono's form. */
  readonly path: string;
  readonly surface: Surface;
  readonly traffic: Traffic;
  /** The names of the checks, in order. */
  readonly checks: readonly string[];
}

export function listed(endpoint: PlatformEndpoint): MountedEndpoint {
  const { surface, traffic, route } = endpoint;
  const checks = endpoint.checks.map(({ name }) => name);
  return { method: methodOf(endpoint), path: honoPath(route), surface, traffic, checks };
}

/** Returns a test for the paths of these endpoints by their first two segments, of which the first may be a bank. */
export function isBelow(endpoints: readonly MountedEndpoint[]): (path: string) => boolean {
  const heads = new Set(endpoints.map(({ path }) => path.split("/", 3).join("/")));
  return (path) => {
    const [, first = "", second = ""] = path.split("/", 3);
    return heads.has(`/${first}/${second}`) || (first !== "" && heads.has(`/:bank/${second}`));
  };
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]);

/** A caller may send any method, and an unbounded label would grow without end. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : "other";
}

// Middleware: the FAPI headers of a resource request must be well formed or absent (Decision C10).

const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/; // RFC 3986 §3.2.2
const IPV6_CHARACTERS = /^[0-9A-Fa-f:.]{2,45}$/;

const HTTP_DATE =
  "must be an HTTP date with its weekday, such as Sun, 06 Nov 1994 08:49:37 GMT (RFC 9110 §5.6.7).";

const RULES = [
  { path: "x-fapi-auth-date", isGood: isHttpDate, must: HTTP_DATE },
  { path: "x-fapi-customer-ip-address", isGood: isIpAddress, must: "must be an IP address." },
] as const;

/**
 * Reports all malformed headers at once. `x-fapi-financial-id` is accepted and ignored.
 *
 * @throws {ApiError} `request.header_invalid`
 */
export const fapiHeaders = createMiddleware(async function fapiHeaders(c, next) {
  rejectMalformedInteractionId(c.req.header("x-fapi-interaction-id"));
  const faults = RULES.flatMap(({ path, isGood, must }): Fault[] => {
    const value = c.req.header(path);
    if (value === undefined || isGood(value)) return [];
    return [{ code: "Header.Invalid", path, message: `${path} ${must}` }];
  });
  if (faults.length > 0) throw new ApiError("request.header_invalid", { faults });
  if (!acceptsJson(c.req.header("accept"))) throw new ApiError("request.not_acceptable");
  await next();
});

function isIpAddress(value: string): boolean {
  return IPV4.test(value) || (IPV6_CHARACTERS.test(value) && URL.canParse(`http://[${value}]/`));
}
