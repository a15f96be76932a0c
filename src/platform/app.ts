/**
 * The two apps: the API host, which requires client certificates, and the browser host. Each lists its middleware and
 * the slices that it mounts. `compose.ts` has the wiring.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { type BackchannelRouteDeps, backchannelRoutes } from "./backchannel/routes.ts";
import { type PaymentOrderRouteDeps, paymentOrderRoutes } from "./backchannel/payment_order_routes.ts";
import { type ConsentRouteDeps, consentRoutes } from "./consents/routes.ts";
import { type FrontchannelRouteDeps, frontchannelRoutes } from "./frontchannel/routes.ts";
import type { RequestEnv } from "../base/http/context.ts";
import type { PlatformApp } from "./http/endpoint.ts";
import { answerErrors, type ErrorDeps } from "./http/on_error.ts";
import { ApiError } from "../base/kernel/api_error.ts";
import { type DiscoveryRouteDeps, discoveryRoutes } from "./oauth/discovery_routes.ts";
import { type OAuthRouteDeps, oauthRoutes } from "./oauth/routes.ts";
import { type OperationsRouteDeps, operationsRoutes } from "./payments/operations_routes.ts";
import { type PaymentRouteDeps, paymentRoutes } from "./payments/routes.ts";
import { type HoldRouteDeps, orderHoldRoutes } from "./recovery/operations_routes.ts";
import { type RequestLaneRouteDeps, requestLaneRoutes } from "./security/request_lane_routes.ts";
import { type RegistrationRouteDeps, registrationRoutes } from "./registration/routes.ts";
import { type PublicPageDeps, publicPageRoutes } from "./public_pages.ts";

/** The middleware of every request of a host, outermost first. */
export type Surroundings = readonly MiddlewareHandler<RequestEnv>[];

export interface ApiDeps extends ErrorDeps {
  readonly around: Surroundings;
  readonly registration: RegistrationRouteDeps;
  readonly oauth: OAuthRouteDeps;
  readonly consents: ConsentRouteDeps;
  readonly payments: PaymentRouteDeps;
  readonly backchannel: BackchannelRouteDeps;
  readonly paymentOrders: PaymentOrderRouteDeps;
  /** Absent if no operator token is configured. Then these routes do not exist. */
  readonly operations?: OperationsRouteDeps & HoldRouteDeps & RequestLaneRouteDeps | undefined;
}

export interface BrowserDeps extends ErrorDeps {
  readonly around: Surroundings;
  readonly discovery: DiscoveryRouteDeps;
  readonly frontchannel: FrontchannelRouteDeps;
  readonly pages: PublicPageDeps;
}

/** The API host, for programs with client certificates. */
export function apiApp(deps: ApiDeps): PlatformApp {
  const app = surrounded(deps);
  registrationRoutes(app, deps.registration);
  oauthRoutes(app, deps.oauth);
  consentRoutes(app, deps.consents);
  paymentRoutes(app, deps.payments);
  backchannelRoutes(app, deps.backchannel);
  paymentOrderRoutes(app, deps.paymentOrders);
  if (deps.operations !== undefined) {
    operationsRoutes(app, deps.operations);
    orderHoldRoutes(app, deps.operations);
    requestLaneRoutes(app, deps.operations);
  }
  return app;
}

/** The browser host: customers, metadata, health and documentation. */
export function browserApp(deps: BrowserDeps): PlatformApp {
  const app = surrounded(deps);
  app.notFound((c) => {
    if (!isForMachines(c.req.path)) c.set("surface", "browser");
    throw new ApiError("request.not_found");
  });
  publicPageRoutes(app, deps.pages);
  discoveryRoutes(app, deps.discovery);
  frontchannelRoutes(app, deps.frontchannel);
  return app;
}

/** Well-known paths and paths similar to API paths, which people do not open. */
function isForMachines(path: string): boolean {
  return /^\/(\.well-known|assets|health|jwks|openapi\.json|operations)(\/|$)|\/v\d+(\/|$)|\.oauth2\/v/.test(
    path,
  );
}

/**
 * Returns the path as it was sent. The router would decode it first, and `/%68ealth` would then reach a path that the
 * proxy blocks. Parameters are decoded when they are read.
 */
function pathAsSent({ url }: Request): string {
  return /^[^:]*:\/\/[^/?#]*([^?#]+)/.exec(url)?.[1] ?? "/";
}

function surrounded(deps: ErrorDeps & { readonly around: Surroundings }): PlatformApp {
  const app: PlatformApp = new OpenAPIHono<RequestEnv>({ getPath: pathAsSent });
  for (const middleware of deps.around) app.use(middleware);
  app.onError(answerErrors(deps));
  app.notFound(() => {
    throw new ApiError("request.not_found");
  });
  return app;
}
