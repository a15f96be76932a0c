/**
 * Endpoints of the operations API. Each one admits operators with one of the roles that `operator_roles.ts` declares for
 * it. The guard is added where the host is built, so that an endpoint cannot lack it.
 */
import { createMiddleware } from "hono/factory";
import { openBearer, type Person } from "../../base/http/bearer.ts";
import type { RequestEnv, RequestVariables } from "../../base/http/context.ts";
import type { Identified } from "../../base/http/credentials.ts";
import { type Check, type CheckedContext, type Endpoint, methodOf } from "../../base/http/endpoint.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { Log } from "../log_events.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import type { RecordRead } from "./operator_audit.ts";
import { AUDITED_READS, OPERATION_ROLES, type Role } from "./operator_roles.ts";

/** Set by the guard of the operations API. */
export interface OperatorVariables {
  /** The authenticated operator as histories name it: `operator <name>`. */
  operator: string;
}

/** Declares an endpoint of the operations API. The checks run behind the guard. */
export function operation<P extends string, const C extends readonly Check[]>(
  route: Endpoint["route"] & { readonly path: P },
  checks: C,
  handle: (
    c: CheckedContext<{ Variables: RequestVariables & OperatorVariables }, C, P>,
  ) => Response | Promise<Response>,
): PlatformEndpoint {
  return endpoint("oauth", "operator", route, checks, handle as never);
}

export interface OperatorGuardDeps {
  /** Looks up an operator's token. */
  readonly identify: (token: string) => Promise<Identified>;
  readonly clock: Clock;
  readonly log: Log;
  readonly recordRead: RecordRead;
}

/** Returns the person who sends the request. @throws {ApiError} `operations.unauthorized`, `request.rate_limited` */
export type Authenticate = (request: Pick<Request, "headers">, interactionId: string) => Promise<Person>;

/** Identifies people by the bearer tokens of their requests. */
export function byBearer({ identify, clock, log }: Omit<OperatorGuardDeps, "recordRead">): Authenticate {
  const bearer = openBearer({ identify, clock, unauthorized: "operations.unauthorized" });
  return ({ headers }, interactionId) =>
    bearer(headers.get("authorization") ?? undefined, (credential) => {
      log.warn("operator.wrong_credential", { interactionId, credential });
    });
}

/**
 * Returns the endpoints with their guard as the first check. It throws {ApiError} `operations.unauthorized`,
 * `operations.forbidden`, `request.rate_limited`.
 *
 * @throws {Error} if an endpoint has no roles
 */
export function guardOperations(
  { log, recordRead }: Pick<OperatorGuardDeps, "log" | "recordRead">,
  authenticate: Authenticate,
  endpoints: readonly PlatformEndpoint[],
): readonly PlatformEndpoint[] {
  const guardOf = (roles: readonly Role[], isAudited: boolean): Check => {
    const guard = createMiddleware<RequestEnv & { Variables: OperatorVariables }>(async (c, next) => {
      const interactionId = c.get("interactionId");
      const person = await authenticate(c.req.raw, interactionId);
      if (!roles.some((role) => person.roles.includes(role))) {
        log.warn("operator.forbidden", { interactionId, operator: person.name });
        throw new ApiError("operations.forbidden", `needs ${roles.join(" or ")}`);
      }
      const operator = `operator ${person.name}`;
      if (isAudited) await recordRead(operator, c.req.path);
      c.set("operator", operator);
      await next();
    });
    return Object.defineProperty(guard, "name", { value: `operator(${roles.join(", ")})` });
  };
  return endpoints.map((each) => {
    const name = `${methodOf(each)} ${each.route.path}`;
    const roles = OPERATION_ROLES[name];
    if (roles === undefined) throw new Error(`${name}: declare its roles in operator_roles.ts`);
    return { ...each, checks: [guardOf(roles, AUDITED_READS.has(name)), ...each.checks] };
  });
}
