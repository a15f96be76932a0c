/**
 * The only way to mount an endpoint. The route is added to the OpenAPI document, its surface to the context, and its
 * traffic to the admission control. Other methods get 405 with `Allow` (Hono would send 404, and route HEAD to GET).
 */
import type { OpenAPIHono, RouteConfig } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { asBankCode } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { RequestEnv, Surface } from "../../base/http/context.ts";
import type { Traffic } from "./admission.ts";

/** An app of this platform. `openAPIRegistry` collects the routes. */
export type PlatformApp = OpenAPIHono<RequestEnv>;

const methods = new WeakMap<PlatformApp, Map<string, Gate>>();

/** The checks before all methods of a path. */
interface Gate {
  readonly surface: Surface;
  /** By method. */
  readonly traffic: Map<string, Traffic>;
}

const gates = new WeakMap<object, Gate>();

/**
 * Registers a route and returns the path for mounting its middleware and handler.
 *
 * @returns Hono's form of the path (`/{bank}/x` -> `/:bank/x`)
 * @throws {Error} if a bank could have the first segment of a fixed path as its code
 */
export function endpoint<P extends string>(
  app: PlatformApp,
  surface: Surface,
  traffic: Traffic,
  route: RouteConfig & { readonly path: P },
): HonoPath<P> {
  const first = route.path.split("/")[1];
  if (asBankCode(first) !== undefined) {
    throw new Error(`${route.path}: reserve ${first} in reserved_names.ts`);
  }
  if (route.hide !== true) app.openAPIRegistry.registerPath(route);
  const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1") as HonoPath<P>;
  const known = methods.get(app) ?? new Map<string, Gate>();
  methods.set(app, known);
  const gate = known.get(path) ?? openGate(app, path, surface);
  known.set(path, gate);
  gate.traffic.set(route.method.toUpperCase(), traffic);
  return path;
}

function openGate(app: PlatformApp, path: string, surface: Surface): Gate {
  const gate: Gate = { surface, traffic: new Map() };
  const methodGate: MiddlewareHandler<RequestEnv> = async (c, next) => {
    c.set("surface", surface);
    if (!gate.traffic.has(c.req.method)) {
      throw new ApiError("request.method_not_allowed", { allow: [...gate.traffic.keys()].join(", ") });
    }
    await next();
  };
  app.all(path, methodGate);
  gates.set(methodGate, gate);
  return gate;
}

/** Returns the mounted endpoint that will handle the request, or undefined if none has this path or this method. */
export function endpointOf(c: Context): { readonly surface: Surface; readonly traffic: Traffic } | undefined {
  for (const { handler } of matchedRoutes(c)) {
    const gate = gates.get(handler);
    const traffic = gate?.traffic.get(c.req.method);
    if (gate !== undefined) return traffic === undefined ? undefined : { surface: gate.surface, traffic };
  }
  return undefined;
}

export interface MountedEndpoint {
  readonly method: string;
  /** In Hono's form. */
  readonly path: string;
  readonly surface: Surface;
  readonly traffic: Traffic;
}

/**
 * Returns every endpoint of an app.
 *
 * @throws {Error} if a route was mounted without {@link endpoint}, because the admission control would not apply to
 * it
 */
export function endpointsOf(app: PlatformApp): readonly MountedEndpoint[] {
  const known = methods.get(app) ?? new Map<string, Gate>();
  const stray = app.routes.find(({ path }) => path !== "/*" && !known.has(path));
  if (stray !== undefined) throw new Error(`${stray.method} ${stray.path}: mount it at endpoint(…)`);
  return [...known].flatMap(([path, { surface, traffic }]) =>
    [...traffic].map(([method, kind]) => ({ method, path, surface, traffic: kind }))
  );
}

/** `/{bank}/x` in Hono's form: `/:bank/x`. */
export type HonoPath<P extends string> = P extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${HonoPath<After>}`
  : P;
