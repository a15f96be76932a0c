/**
 * Declares each endpoint once: its path, its description, and its checks in order. The router, the OpenAPI document and
 * the list of paths are made from the declarations.
 */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import type { Context, Env, Handler, Hono, MiddlewareHandler, Next } from "hono";
import { matchedRoutes } from "hono/route";
import { ApiError } from "../kernel/api_error.ts";

/** A step before the handler. It rejects the request, or sets variables for the steps behind it. */
export type Check = (c: never, next: Next) => Promise<Response | void>;

/** A declared endpoint. A hidden one is not in the OpenAPI document. */
export interface Endpoint {
  readonly route: RouteConfig & { readonly hide?: boolean };
  /** In the order in which they run. */
  readonly checks: readonly Check[];
  readonly handle: (c: never) => Response | Promise<Response>;
}

/** `/{bank}/x` in Hono's form: `/:bank/x`. */
export type HonoPath<P extends string> = P extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${HonoPath<After>}`
  : P;

/** Untyped middleware sets no variables. */
type Known<T> = 0 extends 1 & T ? unknown : T;
type VariablesOf<C> = C extends MiddlewareHandler<infer E> ? Known<E["Variables"]> : unknown;
type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends
  (all: infer All) => void ? All
  : never;

/** The context of a handler behind these checks. */
export type CheckedContext<
  E extends Env & { Variables: object },
  C extends readonly Check[],
  P extends string,
> = Context<
  E & { Variables: Together<VariablesOf<C[number]>> },
  HonoPath<P>
>;

/** Converts `/{bank}/x` to Hono's form. */
export function honoPath({ path }: RouteConfig): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

export function methodOf({ route }: Endpoint): string {
  return route.method.toUpperCase();
}

const gates = new WeakMap<object, ReadonlyMap<string, Endpoint>>();

/**
 * Mounts the endpoints. Other methods of their paths get 405 with `Allow` (contract EH4; RFC 9110 §15.5.6). Hono would
 * send 404, and route HEAD to GET.
 *
 * @param hasHead whether HEAD is answered with this GET endpoint, without content
 */
export function mount<E extends Env, Kind extends Endpoint>(
  app: Hono<E>,
  endpoints: readonly Kind[],
  hasHead: (endpoint: Kind) => boolean,
): void {
  for (const [path, byMethod] of byPath(endpoints)) {
    const allowed = [...byMethod].flatMap(([name, each]) =>
      name === "GET" && hasHead(each) ? [name, "HEAD"] : [name]
    );
    const gate: MiddlewareHandler<E> = async (c, next) => {
      if (!allowed.includes(c.req.method)) {
        throw new ApiError("request.method_not_allowed", { allow: allowed.join(", ") });
      }
      await next();
    };
    gates.set(gate, byMethod);
    app.all(path, gate);
    for (const [method, { checks, handle }] of byMethod) {
      app.on(method, [path], ...countSteps([...checks, handle]) as Handler<E>[]);
    }
  }
}

/** Returns the steps of an endpoint. Each one notes how many have passed before it, for the trace of the request. */
function countSteps(steps: readonly Step[]): Step[] {
  return steps.map((step, passed) => (c: Context<{ Variables: { passed: number } }>, next) => {
    c.set("passed", passed);
    return step(c as never, next);
  });
}

type Step = (c: never, next: Next) => ReturnType<Check | Endpoint["handle"]>;

/** Returns the endpoints of the request's path by method, as they were mounted, or undefined if there are none. */
export function endpointsAt(c: Context): ReadonlyMap<string, Endpoint> | undefined {
  return matchedRoutes(c).map(({ handler }) => gates.get(handler)).find((found) => found !== undefined);
}

function byPath<Kind extends Endpoint>(
  endpoints: readonly Kind[],
): ReadonlyMap<string, ReadonlyMap<string, Kind>> {
  const paths = new Map<string, Map<string, Kind>>();
  for (const endpoint of endpoints) {
    const path = honoPath(endpoint.route);
    const methods = paths.get(path) ?? new Map<string, Kind>();
    const method = methodOf(endpoint);
    if (methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    paths.set(path, methods.set(method, endpoint));
  }
  return paths;
}
