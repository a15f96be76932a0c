/**
 * Endpoints of the operations API. Each one admits operators with one of the roles that `operator_roles.ts` declares for
 * it. The guard is added where the host is built, so that an endpoint cannot lack it.
 */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { openBearer, type Person } from "../../../base/http/bearer.ts";
import type { RequestEnv, RequestVariables } from "../../../base/http/context.ts";
import type { Identified } from "../../../base/http/credentials.ts";
import { type Check, type CheckedContext, type Endpoint, methodOf } from "../../../base/http/endpoint.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type Clock, wireDateTime } from "../../../base/kernel/clock.ts";
import type { Log } from "../../observed/log_events.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import { changeOf, type FourEyes } from "./four_eyes.ts";
import type { RecordAttempt, RecordRead } from "./operator_audit.ts";
import { type AnyRole, AUDITED_READS, OPERATION_ROLES, PARTICIPANT } from "./operator_roles.ts";
import type { Organisation, Owned } from "./organisation.ts";

/** Set by the guard of the operations API. */
export interface OperatorVariables {
  /** The authenticated operator as histories name it: `operator <name>`. */
  operator: string;
  person: Person;
}

interface OwnVariables {
  /** Of the participant who sends the request. */
  organisation: Organisation;
}

/** Endpoints that admit participants. No other endpoint does, whatever its roles are. */
const OWN = new WeakSet<PlatformEndpoint["route"]>();

/** The answer of an endpoint for participants: lists by their names, only of what the organisation owns. */
export interface OwnAnswer {
  readonly lists: Readonly<Record<string, readonly Owned[]>>;
  /** Where the next page begins. */
  readonly after?: string | undefined;
  /** Whether a search has found everything. */
  readonly isComplete?: boolean;
}

/**
 * Declares an endpoint that participants may call. Its answer is made of objects that the organisation has recognised
 * as its own (contract OWN1). It throws {Error} for any other object.
 */
export function ownOperation<P extends string>(
  route: Endpoint["route"] & { readonly path: P },
  read: (query: Readonly<Record<string, string>>, organisation: Organisation) => Promise<OwnAnswer>,
): PlatformEndpoint {
  const answer = async (c: Context<RequestEnv & { Variables: OwnVariables }>): Promise<Response> => {
    const organisation = c.get("organisation");
    const { lists, after, isComplete } = await read(c.req.query(), organisation);
    if (Object.values(lists).flat().some((thing) => !organisation.has(thing))) {
      throw new Error(`${route.path} would answer with what another organisation owns`);
    }
    const more = {
      ...(after === undefined ? {} : { After: after }),
      ...(isComplete === undefined ? {} : { IsComplete: isComplete }),
    };
    return c.json({ Data: { ...lists, ...more } });
  };
  OWN.add(route);
  return endpoint("oauth", "person", route, [], answer as never);
}

/** Declares an endpoint of the operations API for operators. The checks run behind the guard. */
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
  readonly recordAttempt: RecordAttempt;
  /** Returns the organisation with its registered clients. @throws {ApiError} `platform.unavailable` */
  readonly organisationOf: (orgId: string) => Promise<Organisation>;
  /** Absent if a guard's operators act alone. */
  readonly fourEyes?: FourEyes;
}

/** Returns the person who sends the request. @throws {ApiError} `operations.unauthorized`, `request.rate_limited` */
export type Authenticate = (request: Pick<Request, "headers">, interactionId: string) => Promise<Person>;

/** Identifies people by the bearer tokens of their requests. */
export function byBearer(
  { identify, clock, log }: Pick<OperatorGuardDeps, "identify" | "clock" | "log">,
): Authenticate {
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
 * @throws {Error} if an endpoint has no roles, or admits participants without being bounded by their organisation
 */
export function guardOperations(
  deps: Omit<OperatorGuardDeps, "identify" | "clock">,
  authenticate: Authenticate,
  endpoints: readonly PlatformEndpoint[],
): readonly PlatformEndpoint[] {
  return endpoints.map((each) => {
    const name = `${methodOf(each)} ${each.route.path}`;
    const roles = OPERATION_ROLES[name];
    if (roles === undefined) throw new Error(`${name}: declare its roles in operator_roles.ts`);
    const isOwn = OWN.has(each.route);
    if (roles.some((role) => (role === PARTICIPANT) !== isOwn)) {
      throw new Error(`${name}: participants, and they alone, may call what ownOperation declares`);
    }
    const needsTwo = deps.fourEyes?.endpoints.has(name) === true ? deps.fourEyes : undefined;
    const handle = needsTwo === undefined ? each.handle : proposeChange(needsTwo, name);
    return { ...each, handle, checks: [guardOf(deps, authenticate, { name, roles }), ...each.checks] };
  });
}

/** Stores the change in place of making it (contract FE1). The checks of the endpoint have decoded the body. */
function proposeChange({ propose }: FourEyes, name: string): PlatformEndpoint["handle"] {
  return (async (c: Context) => {
    const { id, expiresAt } = await propose(changeOf(c, name));
    const expiry = wireDateTime(expiresAt);
    return c.json({ Data: { ProposalId: id, State: "proposed", ExpiryDateTime: expiry } }, 202);
  }) as never;
}

function guardOf(
  { log, recordRead, recordAttempt, organisationOf }: Omit<OperatorGuardDeps, "identify" | "clock">,
  authenticate: Authenticate,
  { name, roles }: { readonly name: string; readonly roles: readonly AnyRole[] },
): Check {
  type Env = RequestEnv & { Variables: OperatorVariables & OwnVariables };
  const guard = createMiddleware<Env>(async (c, next) => {
    const interactionId = c.get("interactionId");
    const person = await authenticate(c.req.raw, interactionId);
    const operator = `operator ${person.name}`;
    if (!admits(roles, person)) {
      log.warn("operator.forbidden", { interactionId, operator: person.name });
      const reason = `${c.req.method} ${c.req.path}`;
      await recordAttempt({ operator, event: "operator.forbidden", reason });
      throw new ApiError("operations.forbidden", `needs ${roles.join(" or ")}`);
    }
    if (AUDITED_READS.has(name)) await recordRead(operator, c.req.path);
    c.set("operator", operator);
    c.set("person", person);
    if (person.organisation !== undefined) c.set("organisation", await organisationOf(person.organisation));
    await next();
  });
  return Object.defineProperty(guard, "name", { value: `operator(${roles.join(", ")})` });
}

/** A person of an organisation is only a participant, whatever roles an identity provider names. */
export function admits(roles: readonly AnyRole[], person: Person): boolean {
  if (person.organisation !== undefined) return roles.includes(PARTICIPANT);
  return roles.some((role) => role !== PARTICIPANT && person.roles.includes(role));
}
