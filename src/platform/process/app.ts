/** The API, browser and operations hosts: the endpoints of their slices behind the same middleware. `compose.ts` wires them. */
import { Hono, type MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { TrieRouter } from "hono/router/trie-router";
import { type BackchannelRouteDeps, backchannelRoutes } from "../core/backchannel/routes.ts";
import { bankEventRoutes } from "../core/backchannel/bank_event_routes.ts";
import { type ResultRouteDeps, resultRoutes } from "../core/backchannel/result_routes.ts";
import { type PaymentOrderRouteDeps, paymentOrderRoutes } from "../core/backchannel/payment_order_routes.ts";
import { isConsolePath } from "../../console/paths.ts";
import { type ConsoleParts, consoleRoutes } from "../operations/console/console_routes.tsx";
import type { CallApi } from "../../console/program.ts";
import { type ConsentRouteDeps, consentRoutes } from "../core/consents/routes.ts";
import { type EventOperationDeps, eventOperationRoutes } from "../events/operations_routes.ts";
import { type EventRouteDeps, eventRoutes } from "../events/routes.ts";
import { type FrontchannelRouteDeps, frontchannelRoutes } from "../core/frontchannel/routes.ts";
import type { Person } from "../../base/http/bearer.ts";
import type { RequestEnv, Surface } from "../../base/http/context.ts";
import { methodOf, mount } from "../../base/http/endpoint.ts";
import { nameRequest, requestLog } from "../../base/http/host_middleware.ts";
import { hasHead, type PlatformEndpoint } from "../guards/http/endpoint.ts";
import { answerErrors, type ErrorDeps } from "../guards/http/on_error.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { preciseClock, type SteadyClock } from "../../base/kernel/clock.ts";
import type { Store } from "../../base/store/store.ts";
import type { FiguresRecorder } from "../observed/figures/recorder.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import type { Log } from "../observed/log_events.ts";
import { FIRST_SEGMENTS } from "../../base/kernel/identifiers.ts";
import { type DiscoveryRouteDeps, discoveryRoutes } from "../core/oauth/discovery_routes.ts";
import { type OAuthRouteDeps, oauthRoutes } from "../core/oauth/routes.ts";
import { type ControlRouteDeps, controlRoutes } from "../operations/control_routes.ts";
import { type HistoryRouteDeps, historyRoutes } from "../operations/history_routes.ts";
import { proposalRoutes } from "../operations/proposal_routes.ts";
import type { CarryOut, ProposalDeps } from "../operations/proposals.ts";
import { type StateRouteDeps, stateRoutes } from "../operations/state_routes.ts";
import { type ParticipantRouteDeps, participantRoutes } from "../operations/participant_routes.ts";
import { type OperationsRouteDeps, operationsRoutes } from "../core/payments/operations_routes.ts";
import { type PaymentRouteDeps, paymentRoutes } from "../core/payments/routes.ts";
import { type HoldRouteDeps, orderHoldRoutes } from "../operations/recovery/operations_routes.ts";
import { type DisputeRouteDeps, disputeRoutes } from "../core/disputes/routes.ts";
import { type DisputeOperationDeps, disputeOperationRoutes } from "../operations/disputes/dispute_routes.ts";
import type { InquireBankDeps } from "../operations/unsettled/inquire_bank.ts";
import { unsettledRoutes } from "../operations/unsettled/unsettled_routes.ts";
import { type MetricsRouteDeps, metricsRoutes } from "../guards/security/metrics_routes.ts";
import { type CaseRouteDeps, caseRoutes } from "../operations/cases/case_routes.ts";
import { type OwnCaseRouteDeps, ownCaseRoutes } from "../operations/cases/own_case_routes.ts";
import { type LogRouteDeps, logRoutes } from "../operations/cases/log_routes.ts";
import { type RequestLaneRouteDeps, requestLaneRoutes } from "../guards/security/request_lane_routes.ts";
import { type RegistrationRouteDeps, registrationRoutes } from "../core/registration/routes.ts";
import { type ReceiptPageDeps, receiptPageRoutes } from "../core/receipts/page_routes.ts";
import { type ReceiptRouteDeps, receiptRoutes } from "../core/receipts/routes.ts";
import {
  type ServiceLevelRouteDeps,
  serviceLevelRoutes,
} from "../operations/reports/service_level_routes.ts";
import { type BankRouteDeps, bankRoutes } from "../operations/health/bank_routes.ts";
import type { OwnReadDeps } from "../operations/participant_views/own_reads.ts";
import { ownRoutes } from "../operations/participant_views/routes.ts";
import { type FunnelRouteDeps, funnelRoutes } from "../operations/funnel/funnel_routes.ts";
import { type ReportRouteDeps, reportRoutes } from "../operations/reports/routes.ts";
import { type SearchRouteDeps, searchRoutes } from "../operations/search/routes.ts";
import { type TraceRouteDeps, traceRoutes } from "../operations/traces/routes.ts";
import { admit, requestMetrics } from "../guards/security/admit.ts";
import {
  type Authenticate,
  byBearer,
  guardOperations,
  type OperatorGuardDeps,
} from "../guards/security/operation.ts";
import { type SpanRequestDeps, spanRequests } from "../guards/http/span_requests.ts";
import { healthEndpoints, type PublicPageDeps, publicPageRoutes } from "./public_pages.ts";
import {
  type OperationsDocumentDeps,
  operationsDocumentRoutes,
} from "../guards/security/operations_document_routes.ts";

/** The middleware of every request of a host, outermost first. */
export type HostMiddleware = readonly MiddlewareHandler<RequestEnv>[];

/**
 * Returns what every request of every host passes first, in this order.
 *
 * @param headers sets the response headers of the host
 * @param admitted how requests are admitted; without `callers`, all of them are of unknown callers
 * @param traced the middleware that records traces, if the host has them
 */
export function hostMiddleware(
  { store, metrics, figures, steady, ...spanned }: SpanRequestDeps & {
    readonly store: Store;
    readonly metrics: PlatformMetrics;
    readonly figures: FiguresRecorder;
    readonly steady: SteadyClock;
  },
  log: Log,
  headers: MiddlewareHandler<RequestEnv>,
  admitted: Parameters<typeof admit>[0],
  traced: HostMiddleware = [],
): HostMiddleware {
  return [
    nameRequest(store),
    ...spanRequests(spanned),
    headers,
    requestMetrics({ metrics, figures, elapsed: preciseClock }),
    requestLog({ log, steady }),
    ...traced,
    admit(admitted),
  ];
}

export interface ApiDeps extends ErrorDeps {
  readonly around: HostMiddleware;
  /** Absent in a cell that registers no clients. Then the route does not exist. */
  readonly registration: RegistrationRouteDeps | undefined;
  readonly oauth: OAuthRouteDeps;
  readonly consents: ConsentRouteDeps;
  readonly payments: PaymentRouteDeps;
  readonly receipts: ReceiptRouteDeps;
  readonly backchannel: BackchannelRouteDeps;
  readonly results: ResultRouteDeps;
  readonly paymentOrders: PaymentOrderRouteDeps;
  readonly cases: OwnCaseRouteDeps;
  readonly disputes: DisputeRouteDeps;
  readonly traces: TraceRouteDeps;
  readonly events: EventRouteDeps;
}

export interface BrowserDeps extends ErrorDeps {
  readonly around: HostMiddleware;
  readonly discovery: DiscoveryRouteDeps;
  readonly frontchannel: FrontchannelRouteDeps;
  readonly pages: PublicPageDeps;
  readonly receipts: ReceiptPageDeps;
  readonly serviceLevels: ServiceLevelRouteDeps;
  readonly banks: BankRouteDeps;
}

export interface OperationsDeps extends ErrorDeps {
  readonly around: HostMiddleware;
  readonly health: Parameters<typeof healthEndpoints>[0];
  /** Absent if no operators are configured. Then the operations API does not exist, and health does. */
  readonly guard: OperatorGuardDeps | undefined;
  readonly console: ConsoleParts;
  readonly operations:
    & OperationsRouteDeps
    & EventOperationDeps
    & HoldRouteDeps
    & InquireBankDeps
    & DisputeOperationDeps
    & RequestLaneRouteDeps
    & MetricsRouteDeps
    & LogRouteDeps
    & ControlRouteDeps
    & HistoryRouteDeps
    & ParticipantRouteDeps
    & CaseRouteDeps
    & SearchRouteDeps
    & ReportRouteDeps
    & FunnelRouteDeps
    & OwnReadDeps
    & ProposalDeps
    & StateRouteDeps
    & OperationsDocumentDeps;
}

/** A host: its endpoints, and the handler of its requests. */
export interface Host {
  readonly endpoints: readonly PlatformEndpoint[];
  fetch(request: Request): Promise<Response>;
}

/** The API host, for programs with client certificates. */
export function apiHost(deps: ApiDeps): Host {
  return openHost(deps, [
    ...(deps.registration === undefined ? [] : registrationRoutes(deps.registration)),
    ...oauthRoutes(deps.oauth),
    ...consentRoutes(deps.consents),
    ...paymentRoutes(deps.payments),
    ...receiptRoutes(deps.receipts),
    ...backchannelRoutes(deps.backchannel),
    ...resultRoutes(deps.results),
    ...paymentOrderRoutes(deps.paymentOrders),
    ...bankEventRoutes(deps.events),
    ...ownCaseRoutes(deps.cases),
    ...disputeRoutes(deps.disputes),
    ...traceRoutes(deps.traces),
    ...eventRoutes(deps.events),
  ], () => "oauth");
}

/** The browser host: customers, metadata, health and documentation. */
export function browserHost(deps: BrowserDeps): Host {
  const endpoints = [
    ...publicPageRoutes(deps.pages),
    ...receiptPageRoutes(deps.receipts),
    ...serviceLevelRoutes(deps.serviceLevels),
    ...bankRoutes(deps.banks),
    ...discoveryRoutes(deps.discovery),
    ...frontchannelRoutes(deps.frontchannel),
  ];
  return openHost(deps, endpoints, (path) => isForMachines(path) ? "oauth" : "browser");
}

/** The operations host, for operators and their tools. It has a listener of its own. */
export function operationsHost(deps: OperationsDeps): Host {
  const { guard } = deps;
  if (guard === undefined) return openHost(deps, healthEndpoints(deps.health), () => "oauth");
  const changes = operationsEndpoints(deps.operations);
  const carryOut = carriesOut(deps, changes);
  const endpoints = [...changes, ...proposalRoutes({ ...deps.operations, carryOut })];
  const served = [
    ...healthEndpoints(deps.health),
    ...guardOperations(guard, byBearer(guard), endpoints),
    ...consoleRoutes(deps.console, callInside(deps, guard, endpoints)),
  ];
  return openHost(deps, served, (path) => isConsolePath(path) ? "browser" : "oauth");
}

function operationsEndpoints(operations: OperationsDeps["operations"]): readonly PlatformEndpoint[] {
  return [
    ...operationsRoutes(operations),
    ...eventOperationRoutes(operations),
    ...orderHoldRoutes(operations),
    ...unsettledRoutes(operations),
    ...disputeOperationRoutes(operations),
    ...controlRoutes(operations),
    ...historyRoutes(operations),
    ...participantRoutes(operations),
    ...requestLaneRoutes(operations),
    ...metricsRoutes(operations),
    ...logRoutes(operations),
    ...caseRoutes(operations),
    ...searchRoutes(operations),
    ...reportRoutes(operations),
    ...funnelRoutes(operations),
    ...ownRoutes(operations),
    ...stateRoutes(operations),
    ...operationsDocumentRoutes(operations),
  ];
}

/**
 * Returns the way of approved changes to their endpoints: with their checks, and in the name of both operators.
 * A change reaches no other endpoint than the one that it was proposed for.
 */
function carriesOut(deps: OperationsDeps, endpoints: readonly PlatformEndpoint[]): CarryOut {
  const operators = new WeakMap<Request, string>();
  const named = createMiddleware<RequestEnv & { Variables: { operator: string } }>(async (c, next) => {
    const operator = operators.get(c.req.raw);
    if (operator === undefined) throw new ApiError("operations.unauthorized");
    c.set("operator", operator);
    await next();
  });
  const around = [nameRequest(deps.operations.store)];
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
  deps: OperationsDeps,
  guard: OperatorGuardDeps,
  endpoints: readonly PlatformEndpoint[],
): CallApi {
  const people = new WeakMap<Pick<Request, "headers">, Person>();
  const known: Authenticate = (request) => {
    const person = people.get(request);
    if (person === undefined) throw new ApiError("operations.unauthorized");
    return Promise.resolve(person);
  };
  const guarded = guardOperations(guard, known, endpoints);
  const around = [nameRequest(deps.operations.store)];
  const inside = openHost({ ...deps, around }, [...healthEndpoints(deps.health), ...guarded], () => "oauth");
  return async (person, request, number) => {
    request.headers.set("x-fapi-interaction-id", number);
    people.set(request, person);
    return await inside.fetch(request);
  };
}

/** Well-known paths and paths similar to API paths, which people do not open. */
function isForMachines(path: string): boolean {
  return FIRST_SEGMENTS.get(path.split("/")[1] ?? "")?.forPrograms === true ||
    /\/v\d+(\/|$)|\.oauth2\/v/.test(path);
}

/**
 * Returns the path as it was sent. The router would decode it first, and `/%68ealth` would then reach a path that the
 * proxy blocks. Parameters are decoded when they are read. A hyphen behind the first segment, by which proxies choose, may
 * be encoded (RFC 3986 §6.2.2.2).
 */
function pathAsSent({ url }: Request): string {
  const path = /^[^:]*:\/\/[^/?#]*([^?#]+)/.exec(url)?.[1] ?? "/";
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end) + path.slice(end).replaceAll(/%2D/gi, "-");
}

/** @param surfaceOf the surface of a path that no endpoint has */
function openHost(
  deps: ErrorDeps & { readonly around: HostMiddleware },
  endpoints: readonly PlatformEndpoint[],
  surfaceOf: (path: string) => Surface,
): Host {
  const app = new Hono<RequestEnv>({ getPath: pathAsSent, router: new TrieRouter() }); // others cannot route /:bank beside /traces
  for (const middleware of deps.around) app.use(middleware);
  mount(app, endpoints, hasHead);
  app.onError(answerErrors(deps));
  app.notFound((c) => {
    c.set("surface", surfaceOf(c.req.path));
    throw new ApiError("request.not_found");
  });
  return { endpoints, fetch: async (request) => await app.fetch(request) };
}
