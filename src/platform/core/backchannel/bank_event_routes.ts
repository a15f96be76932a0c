/** `/{BANK}/back-channel-events/v1` (contract EVT19): a bank fetches and acknowledges its events. */
import { bankAsOwner } from "../../events/event_store.ts";
import { pollEvents, type PollEventsDeps } from "../../events/poll_events.ts";
import { pollBody, pollDescription } from "../../events/poll_schema.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { resourceRoute } from "../../guards/http/openapi_parameters.ts";
import { BANK_EVENTS_PATH } from "../../config/paths.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import { bankChecks } from "./routes.ts";

const pollRoute = resourceRoute({
  method: "post",
  path: BANK_EVENTS_PATH,
  tags: ["Back channel"],
  operationId: "pollBankEvents",
  summary: "Bank: fetch and acknowledge events of consents and payments",
  description:
    "Like the polls of TPPs (RFC 8936): consents that ended after their customer was at the bank, and payments whose " +
    "orders an operator has closed. An event is returned by each poll until it is acknowledged with `ack`, or until it " +
    "is `PLATFORM_EVENT_DAYS` old. The body is not signed.",
  scopes: ["bank"],
  ...pollDescription,
});

export function bankEventRoutes(
  deps: PollEventsDeps & { readonly guards: ResourceGuards },
): readonly PlatformEndpoint[] {
  const checks = [...bankChecks(deps.guards, () => []), ...pollBody] as const;
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
