/** `/operations/event-deliveries`: how the pushes to each subscriber stand, and dead events sent again (contract EVT16). */
import { z } from "@hono/zod-openapi";
import { asBankCode, asClientId } from "../../base/kernel/identifiers.ts";
import { readPage } from "../../base/store/page.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";
import { type DeliveryDeps, eventDeliveriesSchema, representDeliveries } from "./delivery_representation.ts";
import type { EventOwner, EventStore } from "./event_store.ts";
import { MAX_REPLAYED, redriveEvents, type ReplayDeps } from "./replay_events.ts";
import { findSubscription, listSubscriptions } from "./subscription_store.ts";

export interface EventOperationDeps extends ReplayDeps, DeliveryDeps {
  readonly events: EventStore;
}

const PAGE = 50;
const tags = ["Events"];

const listRoute = operationRoute({
  method: "get",
  path: "/operations/event-deliveries",
  operationId: "listEventDeliveries",
  tags,
  summary: "Pushes of events by subscriber",
  description: `At most ${PAGE} subscriptions. \`After\` of a full page continues behind it.`,
  request: { query: z.object({ after: z.string().optional() }) },
  answers: {
    200: operationAnswer("A page of subscribers", eventDeliveriesSchema),
  },
});

const redriveRoute = operationRoute({
  method: "post",
  path: "/operations/event-deliveries/{clientId}/{bank}/redrive",
  operationId: "redriveEvents",
  tags,
  summary: "Push dead events again",
  description: `The first ${MAX_REPLAYED} dead events are due at once, with all retries ahead.`,
  request: { params: z.object({ clientId: z.string(), bank: z.string() }) },
  answers: {
    202: operationAnswer(
      "They are due now",
      z.strictObject({ Data: z.strictObject({ Redriven: z.int() }) }).openapi("RedrivenEvents"),
    ),
  },
  errors: [404],
});

export function eventOperationRoutes(deps: EventOperationDeps): readonly PlatformEndpoint[] {
  return [
    operation(listRoute, [], async (c) => {
      const after = c.req.query("after");
      const start = after === undefined ? undefined : ownerOf(after);
      if (after !== undefined && start === undefined) {
        throw new ApiError("operations.invalid_request", {
          description: "after must be the After of an earlier page",
        });
      }
      const { found, next } = await readPage(
        { after: start, limit: PAGE },
        async (place, limit) =>
          (await listSubscriptions(deps.store, place, limit)).map((shown) => ({
            place: shown as EventOwner,
            shown,
          })),
      );
      const shown = await representDeliveries(deps, found);
      const more = next === undefined ? {} : { After: `${next.clientId}@${next.bank}` };
      return c.json({ Data: { EventDelivery: shown, ...more } });
    }),
    operation(redriveRoute, [], async (c) => {
      const owner = ownerOf(`${c.req.param("clientId")}@${c.req.param("bank")}`);
      const subscription = owner === undefined ? null : await findSubscription(deps.store, owner);
      if (owner === undefined || subscription === null) throw new ApiError("operations.subscription_unknown");
      const redriven = await redriveEvents(deps, owner, c.get("operator"));
      return c.json({ Data: { Redriven: redriven } }, 202);
    }),
  ];
}

function ownerOf(text: string): EventOwner | undefined {
  const [client, code] = text.split("@");
  const [clientId, bank] = [asClientId(client), asBankCode(code)];
  return clientId === undefined || bank === undefined ? undefined : { clientId, bank };
}
