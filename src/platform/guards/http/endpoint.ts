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
import { FIRST_SEGMENTS } from "../../../base/kernel/reserved_names.ts";
import { READINESS_PATH } from "../../config/paths.ts";
import type { Traffic } from "./admission.ts";

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
  if (segment === undefined) throw new Error(`${path}: reserve ${first} in reserved_names.ts`);
  if ((segment.zone === "operator") !== OPERATORS_LISTENER.has(traffic)) {
    throw new Error(`${path}: the proxies close the paths of operators alone`);
  }
}

/** Anyone may read them, and reading has no effect. */
const PUBLIC: ReadonlySet<Traffic> = new Set(["public", "probe"]);

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
