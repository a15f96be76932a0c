/** `/operations/event-deliveries`: how the pushes to each subscriber stand, and dead events sent again (contract EVT16). */
import { createRoute, z } from "@hono/zod-openapi";
import { wireDateTime } from "../../base/kernel/clock.ts";
import { asBankCode, asClientId, type ClientId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { operationAnswer, operationErrors, OPERATOR_SECURITY } from "../http/operation_answers.ts";
import type { ReceiverCircuit } from "../delivery/receiver_circuit.ts";
import { operation } from "../security/operation.ts";
import { deliveryStatus, MAX_COUNTED } from "./delivery_status.ts";
import type { EventOwner } from "./event_store.ts";
import { MAX_REPLAYED, type RedriveDeps, redriveEvents } from "./replay_events.ts";
import type { Subscription } from "./subscription.ts";
import type { SubscriptionStore } from "./subscription_store.ts";

export interface EventOperationDeps extends RedriveDeps {
  readonly subscriptions: SubscriptionStore;
  readonly eventCircuit: Pick<ReceiverCircuit<ClientId, ClientId>, "open">;
}

const PAGE = 50;
const tags = ["Events"];
const security = OPERATOR_SECURITY;

const counted = z.int().min(0).max(MAX_COUNTED);
export const eventDeliveriesSchema = z.strictObject({
  Data: z.strictObject({
    EventDelivery: z.array(z.strictObject({
      ClientId: z.string(),
      BankId: z.string(),
      CallbackUrl: z.string(),
      Waiting: counted.openapi({
        description: `At most ${MAX_COUNTED} events are counted, with the dead ones.`,
      }),
      Dead: counted.openapi({ description: "Rejected 11 times, and pushed no more." }),
      OldestDateTime: z.string().optional(),
      LastFailure: z.string().optional().openapi({
        description: "Of the first event whose push has failed.",
      }),
      IsReceiverAway: z.boolean().openapi({
        description: "As this process sees it: it pushes single events.",
      }),
    })),
    After: z.string().optional(),
  }),
}).openapi("EventDeliveries");

const listRoute = createRoute({
  method: "get",
  path: "/operations/event-deliveries",
  operationId: "listEventDeliveries",
  tags,
  security,
  summary: "Pushes of events by subscriber",
  description: `At most ${PAGE} subscriptions. \`After\` of a full page continues behind it.`,
  request: { query: z.object({ after: z.string().optional() }) },
  responses: {
    200: operationAnswer("A page of subscribers", eventDeliveriesSchema),
    ...operationErrors(400),
  },
});

const redriveRoute = createRoute({
  method: "post",
  path: "/operations/event-deliveries/{clientId}/{bank}/redrive",
  operationId: "redriveEvents",
  tags,
  security,
  summary: "Push dead events again",
  description: `The first ${MAX_REPLAYED} dead events are due at once, with all retries ahead.`,
  request: { params: z.object({ clientId: z.string(), bank: z.string() }) },
  responses: {
    202: operationAnswer(
      "They are due now",
      z.strictObject({ Data: z.strictObject({ Redriven: z.int() }) }).openapi("RedrivenEvents"),
    ),
    ...operationErrors(404),
  },
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
      const page = await deps.subscriptions.list(start, PAGE);
      const away = new Set(deps.eventCircuit.open().map(({ receiver }) => receiver));
      const shown = await Promise.all(page.flatMap((each) => represent(deps, each, away)));
      const last = page.length === PAGE ? page.at(-1) : undefined;
      const more = last === undefined ? {} : { After: `${last.clientId}@${last.bank}` };
      return c.json({ Data: { EventDelivery: shown, ...more } });
    }),
    operation(redriveRoute, [], async (c) => {
      const owner = ownerOf(`${c.req.param("clientId")}@${c.req.param("bank")}`);
      const subscription = owner === undefined ? null : await deps.subscriptions.find(deps.store, owner);
      if (owner === undefined || subscription === null) throw new ApiError("operations.subscription_unknown");
      const redriven = await redriveEvents(deps, owner, c.get("operator"));
      return c.json({ Data: { Redriven: redriven } }, 202);
    }),
  ];
}

type Shown = z.infer<typeof eventDeliveriesSchema>["Data"]["EventDelivery"][number];

/** A subscription for polling alone has no delivery. */
function represent(
  { events }: EventOperationDeps,
  { clientId, bank, callbackUrl }: Subscription,
  away: ReadonlySet<ClientId>,
): Promise<Shown>[] {
  if (callbackUrl === undefined) return [];
  return [
    deliveryStatus(events, { clientId, bank }).then(({ waiting, dead, oldestAt, failure }) => ({
      ClientId: clientId,
      BankId: bank,
      CallbackUrl: callbackUrl,
      Waiting: waiting,
      Dead: dead,
      ...(oldestAt === undefined ? {} : { OldestDateTime: wireDateTime(oldestAt) }),
      ...(failure === undefined ? {} : { LastFailure: `${failure.why} (${failure.jti})` }),
      IsReceiverAway: away.has(clientId),
    })),
  ];
}

function ownerOf(text: string): EventOwner | undefined {
  const [client, code] = text.split("@");
  const [clientId, bank] = [asClientId(client), asBankCode(code)];
  return clientId === undefined || bank === undefined ? undefined : { clientId, bank };
}
