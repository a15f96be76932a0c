/** `/operations/event-deliveries`: how the pushes to each subscriber stand, and dead events sent again (contract EVT16, OWN6). */
import { z } from "@hono/zod-openapi";
import { asBankCode, asClientId, type ClientId } from "../../base/kernel/identifiers.ts";
import { readPage } from "../../base/store/page.ts";
import type { Reader, Store } from "../../base/store/store.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { operationAnswer, operationRoute, tppMember, tppName } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";
import type { EventOwner, EventStore } from "./event_store.ts";
import { MAX_REPLAYED, redriveEvents, type ReplayDeps } from "./replay_events.ts";
import { findSubscription, listSubscriptions, type Subscription } from "./subscription_store.ts";
import type { ReceiverCircuit } from "./delivery/receiver_circuit.ts";
import { deliveryStatus, MAX_COUNTED } from "./delivery_status.ts";

export interface DeliveryDeps {
  readonly store: Store;
  readonly clients: {
    readonly namesOf: (from: Reader, clientIds: Iterable<ClientId>) => Promise<ReadonlyMap<string, string>>;
  };
  readonly events: EventStore;
  readonly eventCircuit: Pick<ReceiverCircuit<ClientId, ClientId>, "open">;
}

const counted = z.int().min(0).max(MAX_COUNTED);
export const eventDeliverySchema = z.strictObject({
  ClientId: z.string(),
  Tpp: tppName,
  BankId: z.string(),
  CallbackUrl: z.string(),
  Waiting: counted.openapi({ description: `At most ${MAX_COUNTED} events are counted, with the dead ones.` }),
  Dead: counted.openapi({ description: "Rejected 11 times, and pushed no more." }),
  OldestDateTime: z.string().optional(),
  LastFailure: z.string().optional().openapi({ description: "Of the first event whose push has failed." }),
  IsReceiverAway: z.boolean().openapi({ description: "As this process sees it: it pushes single events." }),
});

export const eventDeliveriesSchema = z.strictObject({
  Data: z.strictObject({ EventDelivery: z.array(eventDeliverySchema), After: z.string().optional() }),
}).openapi("EventDeliveries");

type Shown = z.infer<typeof eventDeliverySchema>;

/** A subscription for polling alone has no delivery. */
export async function representDeliveries(
  deps: DeliveryDeps,
  subscriptions: readonly Subscription[],
): Promise<readonly Shown[]> {
  const away = new Set(deps.eventCircuit.open().map(({ receiver }) => receiver));
  const names = await deps.clients.namesOf(deps.store, subscriptions.map(({ clientId }) => clientId));
  return await Promise.all(subscriptions.flatMap((each) => represent(deps, each, { away, names })));
}

function represent(
  { events }: DeliveryDeps,
  { clientId, bank, callbackUrl }: Subscription,
  { away, names }: { readonly away: ReadonlySet<ClientId>; readonly names: ReadonlyMap<string, string> },
): Promise<Shown>[] {
  if (callbackUrl === undefined) return [];
  return [
    deliveryStatus(events, { clientId, bank }).then(({ waiting, dead, oldestAt, failure }) => ({
      ClientId: clientId,
      ...tppMember(names, clientId),
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

export function eventOperationRoutes(deps: ReplayDeps & DeliveryDeps): readonly PlatformEndpoint[] {
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
