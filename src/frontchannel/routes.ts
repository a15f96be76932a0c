/** The browser's side: the TPP's link (endpoint 4) and the bank's return (endpoint 5). */
import { createRoute, z } from "@hono/zod-openapi";
import { endpoint, type PlatformApp } from "../http/endpoint.ts";
import { bankParameter } from "../http/openapi_parameters.ts";
import type { Site } from "../ui/site.ts";
import type { BrowserBinding } from "./browser_binding.ts";
import { finishAuthentication, type FinishDeps } from "./finish_authentication.ts";
import { bankOf, queryOf, sealedAnswerOf } from "./link.ts";
import { screenRoutes, SEE_OTHER } from "./screen_routes.ts";
import { startAuthorization, type StartDeps } from "./start_authorization.ts";

/** What the routes need. */
export interface FrontchannelRouteDeps extends StartDeps, FinishDeps {
  readonly binding: BrowserBinding;
  readonly site: Site;
}

const page = { "text/html": { schema: z.string() } };
const tags = ["Browser"];

const authorizeRoute = createRoute({
  method: "get",
  path: "/{bank}/authorization.oauth2",
  tags,
  summary: "Start an authorization (opened in the customer's browser)",
  request: { params: bankParameter, query: z.object({ client_id: z.string(), request_uri: z.string() }) },
  responses: {
    303: { description: "To the bank, or to the TPP with an error" },
    400: { description: "A page: the link cannot be used", content: page },
    503: {
      description: "A page with a way back to the TPP: nobody can say whether it is active",
      content: page,
    },
  },
});
const returnRoute = createRoute({
  method: "get",
  path: "/{bank}/authorization.sca.oauth2",
  tags,
  summary: "Take the customer back from the bank",
  request: { params: bankParameter, query: z.object({ oAuthUrl: z.string() }) },
  responses: {
    303: { description: "To the consent screen, or to the TPP with a code or an error" },
    400: {
      description: "A page: the return is not authentic, or another browser's; nothing has changed",
      content: page,
    },
  },
});

/** Mounts the browser routes. */
export function frontchannelRoutes(app: PlatformApp, deps: FrontchannelRouteDeps): void {
  mountAuthorize(app, deps);
  mountReturn(app, deps);
  screenRoutes(app, deps);
}

function mountAuthorize(app: PlatformApp, deps: FrontchannelRouteDeps): void {
  app.get(endpoint(app, "browser", authorizeRoute), async (c) => {
    const query = queryOf(c.req.url);
    const { secret, hash } = await deps.binding.fresh();
    const departure = await startAuthorization(deps, {
      bank: bankOf(c.req.param("bank")),
      clientId: query.get("client_id"),
      requestUri: query.get("request_uri"),
      bindingHash: hash,
      reads: c.get("reads"),
    });
    if (departure.correlationId !== undefined) deps.binding.set(c, departure.correlationId, secret);
    return c.redirect(departure.url, SEE_OTHER);
  });
}

function mountReturn(app: PlatformApp, deps: FrontchannelRouteDeps): void {
  app.get(endpoint(app, "browser", returnRoute), async (c) => {
    const url = await finishAuthentication(deps, {
      bank: bankOf(c.req.param("bank")),
      sealed: sealedAnswerOf(c.req.url),
      browser: deps.binding.asking(c),
      reads: c.get("reads"),
      interactionId: c.get("interactionId"),
    });
    return c.redirect(url, SEE_OTHER);
  });
}
