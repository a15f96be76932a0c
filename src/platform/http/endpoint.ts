/** Declares the platform's endpoints: `base/http/endpoint.ts` with a surface and the traffic that admits them. */
import type { Context } from "hono";
import {
  type Check,
  type CheckedContext,
  type Endpoint,
  endpointsAt,
  honoPath,
  methodOf,
} from "../../base/http/endpoint.ts";
import type { RequestEnv, Surface } from "../../base/http/context.ts";
import { asBankCode } from "../../base/kernel/identifiers.ts";
import type { Traffic } from "./admission.ts";

export interface PlatformEndpoint extends Endpoint {
  readonly surface: Surface;
  readonly traffic: Traffic;
}

/**
 * Declares an endpoint.
 *
 * @param checks in the order in which they run
 * @throws {Error} if a bank could have the first segment of a fixed path as its code
 */
export function endpoint<P extends string, const C extends readonly Check[]>(
  surface: Surface,
  traffic: Traffic,
  route: Endpoint["route"] & { readonly path: P },
  checks: C,
  handle: (c: CheckedContext<RequestEnv, C, P>) => Response | Promise<Response>,
): PlatformEndpoint {
  const first = route.path.split("/")[1];
  if (asBankCode(first) !== undefined) {
    throw new Error(`${route.path}: reserve ${first} in reserved_names.ts`);
  }
  return { surface, traffic, route, checks, handle };
}

/** Returns the surface of the request's path, and the traffic unless the path lacks the method; undefined without an endpoint. */
export function endpointOf(
  c: Context,
): { readonly surface: Surface; readonly traffic: Traffic | undefined } | undefined {
  const at = endpointsAt(c) as ReadonlyMap<string, PlatformEndpoint> | undefined; // the platform mounts no others
  const own = at?.get(c.req.method);
  const [any] = at?.values() ?? [];
  return any === undefined ? undefined : { surface: any.surface, traffic: own?.traffic };
}

/** An endpoint as tests and tools list it. */
export interface MountedEndpoint {
  readonly method: string;
  /** In Hono's form. */
  readonly path: string;
  readonly surface: Surface;
  readonly traffic: Traffic;
}

export function listed(endpoint: PlatformEndpoint): MountedEndpoint {
  const { surface, traffic, route } = endpoint;
  return { method: methodOf(endpoint), path: honoPath(route), surface, traffic };
}
