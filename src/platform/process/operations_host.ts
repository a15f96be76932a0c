/** The operations host, for operators and their tools: what they see and change, on a listener of its own. */
import { createMiddleware } from "hono/factory";
import type { Person } from "../../base/http/bearer.ts";
import type { RequestEnv } from "../../base/http/context.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import { methodOf } from "../../base/http/endpoint.ts";
import { nameRequest } from "../../base/http/host_middleware.ts";
import { openSeal } from "../../base/jose/seal.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { consoleErrorPages } from "../../console/notice_page.tsx";
import { isConsolePath } from "../../console/paths.ts";
import type { CallApi } from "../../console/program.ts";
import { openSignInProvider, type SignInProvider } from "../../console/provider.ts";
import { openSessions } from "../../console/session.ts";
import { guardedFetch } from "../core/participants/guarded_fetch.ts";
import { certifiedKeys } from "../core/participants/participant_keys.ts";
import { statementEnd } from "../core/participants/software_statement.ts";
import { operationsRoutes } from "../core/payments/operations_routes.ts";
import { eventOperationRoutes } from "../events/operations_routes.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { fourEyesEndpoints, type ProposedChange } from "../guards/security/four_eyes.ts";
import { metricsRoutes } from "../guards/security/metrics_routes.ts";
import { openOidcOperators, personOf, withOidc } from "../guards/security/oidc_operators.ts";
import {
  type Authenticate,
  byBearer,
  guardOperations,
  type OperatorGuardDeps,
} from "../guards/security/operation.ts";
import { operationsDocumentRoutes } from "../guards/security/operations_document_routes.ts";
import { openOperatorAudit } from "../guards/security/operator_audit.ts";
import { requestLaneRoutes } from "../guards/security/request_lane_routes.ts";
import { alarmRoutes } from "../operations/alarm_routes.ts";
import { bankStateRoutes } from "../operations/bank_state_routes.ts";
import { caseRoutes } from "../operations/cases/case_routes.ts";
import { logRoutes } from "../operations/cases/log_routes.ts";
import { operationsHeaders } from "../operations/console/console_page.ts";
import { type ConsoleParts, consoleRoutes } from "../operations/console/console_routes.tsx";
import { operatorsConsole } from "../operations/console/operators_console.ts";
import { controlRoutes } from "../operations/control_routes.ts";
import { disputeOperationRoutes } from "../operations/disputes/dispute_routes.ts";
import { endingRoutes } from "../operations/ending_routes.ts";
import { funnelRoutes } from "../operations/funnel/funnel_routes.ts";
import { historyRoutes } from "../operations/history_routes.ts";
import { keyRoutes } from "../operations/key_routes.ts";
import { participantDetailRoutes } from "../operations/participant_detail_routes.ts";
import { participantRoutes } from "../operations/participant_routes.ts";
import { organisationsOf } from "../operations/participant_views/organisation_of.ts";
import { ownRoutes } from "../operations/participant_views/routes.ts";
import { processRoutes } from "../operations/process_routes.ts";
import { proposalRoutes } from "../operations/proposal_routes.ts";
import { type CarryOut, propose } from "../operations/proposals.ts";
import { orderHoldRoutes } from "../operations/recovery/operations_routes.ts";
import { reportRoutes } from "../operations/reports/routes.ts";
import { searchRoutes } from "../operations/search/routes.ts";
import { unsettledRoutes } from "../operations/unsettled/unsettled_routes.ts";
import { type Host, hostMiddleware, openHost } from "./host.ts";
import { operationsDocument } from "./openapi.ts";
import { healthEndpoints } from "./public_pages.ts";
import type { SharedParts } from "./shared_parts.ts";

type Health = Parameters<typeof healthEndpoints>[0];
type Operations = ReturnType<typeof openOperations>;

/** Without operators the host has nothing but the health of the process. */
export function operationsHost(shared: SharedParts, health: Health): Host {
  const deps = openOperations(shared, () => host.endpoints);
  const { admission, operators } = shared;
  const people = withOidc(operators, oidcOperators(shared));
  const around = hostMiddleware(shared, operationsHeaders, { admission });
  const host = openHost(
    { ...deps, around },
    people === undefined ? healthEndpoints(health) : servedTo(people, deps, health, signInProvider(shared)),
    (path) => people !== undefined && isConsolePath(path) ? "browser" : "oauth",
  );
  return host;
}

function servedTo(
  people: Pick<Credentials, "identify">,
  deps: Operations,
  health: Health,
  provider: SignInProvider | undefined,
): readonly PlatformEndpoint[] {
  const changes = changesOf(deps);
  const endpoints = [...changes, ...proposalRoutes({ ...deps, carryOut: carriesOut(deps, changes) })];
  const guard = guardOf(people, deps);
  const open = healthEndpoints(health);
  return [
    ...open,
    ...guardOperations(guard, byBearer(guard), endpoints),
    ...consoleRoutes(
      consoleParts(deps, provider),
      callInside(deps, guard, open, endpoints),
    ),
  ];
}

/** What the endpoints of operators use. Their requests have no traces, and their errors the console's frame. */
function openOperations(shared: SharedParts, endpoints: () => readonly PlatformEndpoint[]) {
  const { config, delivery, participantKeys, statuses } = shared;
  const audit = openOperatorAudit(shared);
  const program = operatorsConsole(shared.site, shared.log, audit.recordAttempt);
  return {
    ...config,
    ...delivery,
    ...shared, // not the other way round: `delivery` knows less of each part
    fetch: delivery.fetch, // the calls to banks
    ...audit,
    program,
    traceUri: undefined,
    drawErrorPage: consoleErrorPages(program),
    hasOrganisation: statuses.hasOrganisation,
    listedStanding: async (id: ClientId) => (await statuses.find(id))?.standing,
    ownKeys: () => shared.ownKeyRing.publicJwks.keys,
    signer: shared.ownKeyRing.signer,
    lanes: shared.admission.state,
    lastPushes: { all: shared.figures.lastPushes },
    certifiedKeysOf: async (client: Parameters<typeof participantKeys.published>[0]) =>
      certifiedKeys(await participantKeys.published(client)),
    statementEnd,
    organisationOf: organisationsOf({ ...shared, softwareOf: statuses.softwareOf }),
    openApi: () => operationsDocument(config, endpoints()),
  };
}

function changesOf(deps: Operations): readonly PlatformEndpoint[] {
  return [
    ...operationsRoutes(deps),
    ...eventOperationRoutes(deps),
    ...orderHoldRoutes(deps),
    ...unsettledRoutes(deps),
    ...disputeOperationRoutes(deps),
    ...controlRoutes(deps),
    ...historyRoutes(deps),
    ...participantRoutes(deps),
    ...requestLaneRoutes(deps),
    ...metricsRoutes(deps),
    ...logRoutes(deps),
    ...caseRoutes(deps),
    ...searchRoutes(deps),
    ...reportRoutes(deps),
    ...funnelRoutes(deps),
    ...ownRoutes(deps),
    ...keyRoutes(deps),
    ...processRoutes(deps),
    ...participantDetailRoutes(deps),
    ...endingRoutes(deps),
    ...bankStateRoutes(deps),
    ...alarmRoutes(deps),
    ...operationsDocumentRoutes(deps),
  ];
}

/**
 * Returns the way of approved changes to their endpoints: with their checks, and in the name of both operators.
 * A change reaches no other endpoint than the one that it was proposed for.
 */
function carriesOut(deps: Operations, endpoints: readonly PlatformEndpoint[]): CarryOut {
  const operators = new WeakMap<Request, string>();
  const named = createMiddleware<RequestEnv & { Variables: { operator: string } }>(async (c, next) => {
    const operator = operators.get(c.req.raw);
    if (operator === undefined) throw new ApiError("operations.unauthorized");
    c.set("operator", operator);
    await next();
  });
  const around = [nameRequest(deps.store)];
  const within = endpoints.map((each) => ({ ...each, checks: [named, ...each.checks] }));
  return async ({ endpoint, path, contentType, body }, operator) => {
    const request = new Request(`http://operations.invalid${path}`, {
      method: "POST",
      body,
      headers: { "content-type": contentType },
    });
    operators.set(request, operator);
    const matched = within.filter((each) => `${methodOf(each)} ${each.route.path}` === endpoint);
    const inside = openHost({ ...deps, around }, matched, () => "oauth");
    return await inside.fetch(request);
  };
}

/**
 * Returns the console's way to the operations API: the same endpoints with the same roles and records, for a person whom
 * the console has authenticated. Requests from outside do not reach it.
 */
function callInside(
  deps: Operations,
  guard: OperatorGuardDeps,
  open: readonly PlatformEndpoint[],
  endpoints: readonly PlatformEndpoint[],
): CallApi {
  const people = new WeakMap<Pick<Request, "headers">, Person>();
  const known: Authenticate = (request) => {
    const person = people.get(request);
    if (person === undefined) throw new ApiError("operations.unauthorized");
    return Promise.resolve(person);
  };
  const guarded = guardOperations(guard, known, endpoints);
  const around = [nameRequest(deps.store)];
  const inside = openHost({ ...deps, around }, [...open, ...guarded], () => "oauth");
  return async (person, request, number) => {
    request.headers.set("x-fapi-interaction-id", number);
    people.set(request, person);
    return await inside.fetch(request);
  };
}

function consoleParts(deps: Operations, provider: SignInProvider | undefined): ConsoleParts {
  const { clock, config, log, operators, program } = deps;
  const identify = operators?.identify;
  const sessions = openSessions({
    seal: openSeal(clock),
    clock,
    identify: identify ?? (() => Promise.resolve({})),
    secure: config.operationsUrl.startsWith("https:"),
    cookies: "console",
  });
  return {
    program: { ...program, sessions, clock },
    bearer: identify === undefined ? undefined : tokenReader({ identify, clock, log }),
    provider,
  };
}

function signInProvider({ config, fetch, clock, log }: SharedParts): SignInProvider | undefined {
  const { operationsUrl: consoleUrl, operatorsOidc: settings, environment } = config;
  if (settings?.client === undefined) return undefined;
  const { issuer, client } = settings;
  return openSignInProvider({
    issuer,
    personOf: (claims) => personOf(settings, claims),
    client,
    consoleUrl,
    fetch,
    clock,
    loopbackHttp: environment === "Sandbox",
    log: {
      unavailable: (why) => log.warn("operator.provider_unavailable", { issuer, why }),
      rejected: (why) => log.warn("operator.sign_in_rejected", { why }),
    },
  });
}

/** Tokens of the sign-in form have the limits of those in headers. */
function tokenReader(deps: Pick<OperatorGuardDeps, "identify" | "clock" | "log">): (
  token: string,
  interactionId: string,
) => Promise<Person> {
  const authenticate = byBearer(deps);
  return (token, interactionId) =>
    authenticate({ headers: new Headers({ authorization: `Bearer ${token}` }) }, interactionId);
}

function guardOf({ identify }: Pick<Credentials, "identify">, deps: Operations): OperatorGuardDeps {
  const endpoints = fourEyesEndpoints(deps.config.fourEyes);
  return {
    ...deps,
    identify,
    fourEyes: { endpoints, propose: (change: ProposedChange) => propose(deps, change) },
  };
}

function oidcOperators({ config, fetch, clock, steady, log }: SharedParts): Credentials | undefined {
  const { operatorsOidc: settings, environment } = config;
  if (settings === undefined) return undefined;
  const allowedHosts = [new URL(settings.issuer).host];
  const fetchJson = guardedFetch({ fetch, allowedHosts, loopbackHttp: environment === "Sandbox" });
  return openOidcOperators({ settings, fetchJson, clock, steady, log });
}
