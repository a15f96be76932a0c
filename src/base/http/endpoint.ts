/**
 * Declares each endpoint once: its path, its description, and its checks in order. The router, the OpenAPI document and
 * the list of paths are made from the declarations.
 */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import type { Context, Env, ErrorHandler, Hono, MiddlewareHandler, Next } from "hono";
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
 * Mounts the endpoints. Other methods of their paths get 405 with `Allow` (RFC 9110 §15.5.6; Hono would send 404, and
 * route HEAD to GET). A path is one handler of Hono, whose routers take their time for each one.
 *
 * @param hasHead whether HEAD is answered with this GET endpoint, without content
 * @param onError answers what a step throws, and the steps before it see that answer
 */
export function mount<E extends Env, Kind extends Endpoint>(
  app: Hono<E>,
  endpoints: readonly Kind[],
  hasHead: (endpoint: Kind) => boolean,
  onError: ErrorHandler<E>,
): void {
  app.onError(onError);
  for (const [path, byMethod] of byPath(endpoints)) {
    const allowed = [...byMethod].flatMap(([name, each]) =>
      name === "GET" && hasHead(each) ? [name, "HEAD"] : [name]
    );
    const serve: MiddlewareHandler<E> = async (c) => {
      const { method } = c.req;
      const endpoint = allowed.includes(method)
        ? byMethod.get(method === "HEAD" ? "GET" : method)
        : undefined;
      if (endpoint === undefined) {
        throw new ApiError("request.method_not_allowed", { allow: allowed.join(", ") });
      }
      await runSteps(c, [...endpoint.checks, endpoint.handle], onError);
    };
    gates.set(serve, byMethod);
    app.all(path, serve);
  }
}

/** Runs the steps as Hono does. Before each one it notes how many have passed, for the trace of the request. */
async function runSteps<E extends Env>(
  c: Context<E>,
  steps: readonly Step[],
  onError: ErrorHandler<E>,
): Promise<void> {
  const noted: Context<{ Variables: { passed: number } }> = c as never;
  const runFrom = async (passed: number): Promise<void> => {
    noted.set("passed", passed);
    let response: Response | void;
    let isError = false;
    try {
      response = await steps[passed]?.(c as never, () => runFrom(passed + 1));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      c.error = error;
      response = await onError(error, c);
      isError = true;
    }
    if (response && (isError || !c.finalized)) c.res = response;
  };
  await runFrom(0);
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
