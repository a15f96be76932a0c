/** `/{BANK}/events/v1` (contract EVT3, EVT15): a TPP fetches and acknowledges its events, or gets those of a time again. */
import { z } from "@hono/zod-openapi";
import { jsonBody, unsignedJson } from "../../base/http/body.ts";
import { decode, decoded, rejectedAs } from "../guards/http/decode.ts";
import { endpoint, type PlatformEndpoint } from "../guards/http/endpoint.ts";
import { resourceAnswer } from "../guards/http/openapi_answers.ts";
import { resourceRoute } from "../guards/http/openapi_parameters.ts";
import { EVENTS_PATH, REPLAY_PATH } from "../config/paths.ts";
import { instantOf } from "../../base/kernel/date_time.ts";
import { ofClient } from "./client_checks.ts";
import { pollEvents, type PollEventsDeps } from "./poll_events.ts";
import { pollBody, pollDescription } from "./poll_schema.ts";
import { replayEvents } from "./replay_events.ts";
import { type SubscriptionRouteDeps, subscriptionRoutes } from "./subscription_routes.ts";

const instant = z.string().refine(
  (text) => instantOf(text) !== undefined,
  rejectedAs("Field.Invalid", "Must be an ISO 8601 date and time with an offset."),
).openapi({ format: "date-time" });

const replayRequestSchema = z.strictObject({
  from: instant.openapi({ description: "The first time of a change of status whose event is sent again." }),
  to: instant.openapi({ description: "The last one." }),
}).refine(({ from, to }) => (instantOf(from) ?? 0) <= (instantOf(to) ?? 0), {
  path: ["to"],
  ...rejectedAs("Field.Invalid", "Must not be before from."),
}).openapi("EventReplay", {
  example: { from: "2026-01-31T12:00:00+00:00", to: "2026-01-31T13:00:00+00:00" },
});

export const replayResponseSchema = z.strictObject({
  replayed: z.int().openapi({
    description: "How many events wait again, at most 500, or those of one millisecond.",
  }),
  next: z.string().optional().openapi({
    format: "date-time",
    description: "`from` of the next request, if there are more.",
  }),
}).openapi("EventReplayResponse");

/** @throws {ApiError} `resource.invalid_fields`, `resource.invalid_format` */
function decodeReplay(json: unknown): { readonly from: number; readonly to: number } {
  const { from, to } = decode(replayRequestSchema, json);
  return { from: instantOf(from) ?? 0, to: instantOf(to) ?? 0 };
}

type EventRouteDeps = PollEventsDeps & SubscriptionRouteDeps;

const pollRoute = resourceRoute({
  method: "post",
  path: EVENTS_PATH,
  tags: ["Events"],
  operationId: "pollEvents",
  summary: "Fetch and acknowledge events of your consents and payments",
  description:
    "Aggregated polling (RFC 8936). An event is returned by each poll until you acknowledge it with `ack`, " +
    "or until it is `PLATFORM_EVENT_DAYS` old. The body is not signed. For a token of the client credentials grant.",
  scopes: ["payments"],
  ...pollDescription,
});

const replayRoute = resourceRoute({
  method: "post",
  path: REPLAY_PATH,
  tags: ["Events"],
  operationId: "replayEvents",
  summary: "Get events of a time again",
  description:
    "Events that you have acknowledged, or that your receiver has rejected until they were given up, wait again " +
    "with the same `jti`. The body is not signed.",
  scopes: ["payments"],
  body: replayRequestSchema,
  answers: { 200: resourceAnswer("What waits again", replayResponseSchema) },
});

export function eventRoutes(deps: EventRouteDeps): readonly PlatformEndpoint[] {
  return [pollEndpoint(deps), replayEndpoint(deps), ...subscriptionRoutes(deps)];
}

function replayEndpoint(deps: EventRouteDeps): PlatformEndpoint {
  return endpoint("resource", "participant", replayRoute, [
    ...ofClient(deps.guards, "registration"), // up to 500 events are written
    jsonBody,
    unsignedJson,
    decoded(decodeReplay),
  ], async (c) => {
    const { next, replayed } = await replayEvents(deps, {
      owner: { clientId: c.get("access").token.clientId, bank: c.get("bank").code },
      ...c.get("request"),
      replayRecords: c.get("replayRecords"),
      interactionId: c.get("interactionId"),
      reads: c.get("reads"),
    });
    return c.json({ replayed, ...(next === undefined ? {} : { next: new Date(next).toISOString() }) });
  });
}

function pollEndpoint(deps: EventRouteDeps): PlatformEndpoint {
  return endpoint("resource", "participant", pollRoute, [
    ...ofClient(deps.guards, "reads"),
    ...pollBody,
  ], async (c) => {
    const polled = await pollEvents(deps, {
      owner: { clientId: c.get("access").token.clientId, bank: c.get("bank").code },
      request: c.get("request"),
      replayRecords: c.get("replayRecords"),
      interactionId: c.get("interactionId"),
      reads: c.get("reads"),
    });
    return c.json(polled);
  });
}
