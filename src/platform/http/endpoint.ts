/**
 * One way to mount an endpoint: its route goes into the OpenAPI document, its surface onto the context, and
 * every method it does not have is answered 405 with `Allow` (Hono would say 404, and route HEAD to GET).
 */
import type { OpenAPIHono, RouteConfig } from "@hono/zod-openapi";
import { asBankCode } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { RequestEnv, Surface } from "../../base/http/context.ts";

/** An app of this platform; `openAPIRegistry` collects the routes. */
export type PlatformApp = OpenAPIHono<RequestEnv>;

const methods = new WeakMap<PlatformApp, Map<string, Set<string>>>();

/**
 * Registers a route and returns the path to mount its guards and handler at.
 *
 * @returns Hono's form of the path (`/{bank}/x` -> `/:bank/x`)
 * @throws {Error} if a bank could have the first segment of a fixed path as its code
 */
export function endpoint<P extends string>(
  app: PlatformApp,
  surface: Surface,
  route: RouteConfig & { readonly path: P },
): HonoPath<P> {
  const first = route.path.split("/")[1];
  if (asBankCode(first) !== undefined) {
    throw new Error(`${route.path}: reserve ${first} in reserved_names.ts`);
  }
  if (route.hide !== true) app.openAPIRegistry.registerPath(route);
  const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1") as HonoPath<P>;
  const known = methods.get(app) ?? new Map<string, Set<string>>();
  methods.set(app, known);
  const allowed = known.get(path);
  if (allowed !== undefined) {
    allowed.add(route.method.toUpperCase());
    return path;
  }
  const fresh = new Set([route.method.toUpperCase()]);
  known.set(path, fresh);
  app.all(path, async function methodGate(c, next) {
    c.set("surface", surface);
    if (!fresh.has(c.req.method)) {
      throw new ApiError("request.method_not_allowed", { allow: [...fresh].join(", ") });
    }
    await next();
  });
  return path;
}

/** `/{bank}/x` as Hono writes it: `/:bank/x`. */
export type HonoPath<P extends string> = P extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${HonoPath<After>}`
  : P;
