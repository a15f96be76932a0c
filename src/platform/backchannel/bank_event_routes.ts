/** `/{BANK}/back-channel-events/v1` (contract EVT19): a bank fetches and acknowledges its events. */
import { createRoute } from "@hono/zod-openapi";
import { jsonBody } from "../../base/http/body.ts";
import { bankAsOwner } from "../events/event_store.ts";
import { pollEvents, type PollEventsDeps } from "../events/poll_events.ts";
import { decodePollRequest, pollRequestSchema, pollResponseSchema } from "../events/poll_schema.ts";
import { strictJson } from "../events/routes.ts";
import { decoded } from "../http/decoded.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import { resourceAnswer, resourceErrors } from "../http/openapi_answers.ts";
import { accessTokenOf, bankParameter, resourceHeaders } from "../http/openapi_parameters.ts";
import { BANK_EVENTS_PATH } from "../paths.ts";
import type { ResourceGuards } from "../security/resource_guards.ts";
import { bankChecks } from "./routes.ts";

const pollRoute = createRoute({
  method: "post",
  path: BANK_EVENTS_PATH,
  tags: ["Back channel"],
  operationId: "pollBankEvents",
  summary: "Bank: fetch and acknowledge events of consents and payments",
  description:
    "Like the polls of TPPs (RFC 8936): consents that ended after their customer was at the bank, and payments whose " +
    "orders an operator has closed. An event is returned by each poll until it is acknowledged with `ack`, or until it " +
    "is `EVENT_DAYS` old. The body is not signed.",
  security: accessTokenOf("bank"),
  request: {
    params: bankParameter,
    headers: resourceHeaders,
    body: { required: true, content: { "application/json": { schema: pollRequestSchema } } },
  },
  responses: {
    200: resourceAnswer("The events that are not acknowledged, oldest first", pollResponseSchema),
    ...resourceErrors(413, 415),
  },
});

export function bankEventRoutes(
  deps: PollEventsDeps & { readonly guards: ResourceGuards },
): readonly PlatformEndpoint[] {
  const checks = [
    ...bankChecks(deps.guards, () => []),
    jsonBody,
    strictJson,
    decoded(decodePollRequest),
  ] as const;
  return [
    endpoint("resource", "bank", pollRoute, checks, async (c) => {
      const polled = await pollEvents(deps, {
        owner: bankAsOwner(c.get("bank")),
        request: c.get("request"),
        replayRecords: c.get("replayRecords"),
        interactionId: c.get("interactionId"),
        reads: c.get("reads"),
      });
      return c.json(polled);
    }),
  ];
}
