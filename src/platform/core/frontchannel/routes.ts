/** Browser routes: the TPP's link (contract EP4) and the bank's return (contract EP5). */
import { createRoute, z } from "@hono/zod-openapi";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { pageErrors, redirectAnswer } from "../../guards/http/openapi_answers.ts";
import { sealedQuery } from "../../guards/http/jwt_schema.ts";
import { bankParameter } from "../../guards/http/openapi_parameters.ts";
import { AUTHORIZATION_PATH } from "../../config/paths.ts";
import { CLIENT_ID } from "../../../base/kernel/identifiers.ts";
import type { Log } from "../../observed/log_events.ts";
import type { Site } from "../../../pages/site.ts";
import type { BrowserBinding } from "./browser_binding.ts";
import { type BankReturnDeps, openBankReturns } from "./bank_return.ts";
import { finishAuthentication, type FinishDeps } from "./finish_authentication.ts";
import { sealedAnswerOf } from "./link.ts";
import { RESULT_JWT } from "./result_jwt_schema.ts";
import { linkedBank, linkQuery, screenRoutes, SEE_OTHER } from "./screen_routes.ts";
import { openSessionSteps, type SessionStepDeps } from "./session_steps.ts";
import { startAuthorization, type StartDeps } from "./start_authorization.ts";

export type FrontchannelRouteDeps = StartDeps & BankReturnDeps & SessionStepDeps & {
  readonly log: Log;
  readonly binding: BrowserBinding;
  readonly site: Site;
};

const tags = ["Browser"];

const authorizeRoute = createRoute({
  method: "get",
  path: AUTHORIZATION_PATH,
  tags,
  operationId: "authorize",
  summary: "Start an authorization (opened in the customer's browser)",
  description:
    "The `request_uri` of the pushed request. The browser is bound to the authorization session by a cookie.",
  security: [],
  request: {
    params: bankParameter,
    query: z.object({
      client_id: z.string().openapi({ pattern: CLIENT_ID.source }),
      request_uri: z.string(),
    }),
  },
  responses: {
    303: redirectAnswer("To the bank, or to the TPP with an error"),
    ...pageErrors(400, 404, 405, 500, 503),
  },
});
const returnRoute = createRoute({
  method: "get",
  path: "/{bank}/authorization.sca.oauth2",
  tags,
  operationId: "returnFromBank",
  summary: "Take the customer back from the bank",
  description: "The bank's result JWT, signed by the bank and encrypted to the platform.",
  security: [],
  request: { params: bankParameter, query: sealedQuery(RESULT_JWT) },
  responses: {
    303: redirectAnswer("To the consent screen, or to the TPP with a code or an error"),
    ...pageErrors(400, 404, 405, 500, 503),
  },
});

export function frontchannelRoutes(deps: FrontchannelRouteDeps): readonly PlatformEndpoint[] {
  const steps = openSessionSteps(deps);
  return [
    authorizeEndpoint(deps),
    returnEndpoint({ ...deps, steps, returns: openBankReturns(deps) }, deps.binding),
    ...screenRoutes({ ...deps, steps }),
  ];
}

function authorizeEndpoint(deps: FrontchannelRouteDeps): PlatformEndpoint {
  return endpoint("browser", "customer", authorizeRoute, [linkQuery, linkedBank], async (c) => {
    const query = c.get("query");
    const { secret, hash } = await deps.binding.fresh();
    const departure = await startAuthorization(deps, {
      bank: c.get("bankCode"),
      clientId: query.get("client_id"),
      requestUri: query.get("request_uri"),
      bindingHash: hash,
      reads: c.get("reads"),
      replayRecords: c.get("replayRecords"),
      interactionId: c.get("interactionId"),
    });
    if (departure.correlationId !== undefined) deps.binding.set(c, departure.correlationId, secret);
    return c.redirect(departure.url, SEE_OTHER);
  });
}

function returnEndpoint(deps: FinishDeps, binding: BrowserBinding): PlatformEndpoint {
  return endpoint("browser", "returning", returnRoute, [linkedBank], async (c) => {
    const url = await finishAuthentication(deps, {
      bank: c.get("bankCode"),
      sealed: sealedAnswerOf(c.req.url),
      browser: binding.asking(c),
      reads: c.get("reads"),
      interactionId: c.get("interactionId"),
    });
    return c.redirect(url, SEE_OTHER);
  });
}
