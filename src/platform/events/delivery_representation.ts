/** How the pushes to a subscriber stand, on the wire (contract EVT16, OWN6). */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { Reader, Store } from "../../base/store/store.ts";
import { tppMember, tppName } from "../guards/http/operation_answers.ts";
import type { ReceiverCircuit } from "./delivery/receiver_circuit.ts";
import { deliveryStatus, MAX_COUNTED } from "./delivery_status.ts";
import type { EventStore } from "./event_store.ts";
import type { Subscription } from "./subscription.ts";

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
