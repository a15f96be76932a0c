/** A TPP creates, changes and ends its subscription to the events of one bank (contract EVT9). */
import { ApiError, type Fault } from "../../base/kernel/api_error.ts";
import type { Entry, Reader } from "../../base/store/store.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../base/store/transaction.ts";
import type { EventOwner } from "./event_store.ts";
import {
  findSubscription,
  stageSubscription,
  stageSubscriptionEnd,
  type Subscription,
  type SubscriptionTerms,
} from "./subscription_store.ts";
import type { SubscriptionChange } from "./subscription_schema.ts";

interface Command extends RequestState {
  readonly owner: EventOwner;
}

/** A client's request, and the address that its software statement approves. */
interface Wanted<T extends SubscriptionTerms> extends Command {
  readonly terms: T;
  /** `event_notification_uri`. */
  readonly approved: string | undefined;
}

/** @throws {ApiError} `resource.invalid_fields`; `subscription.exists` if the client has one at this bank */
export async function subscribe(
  deps: TransactDeps,
  { owner, terms, approved, ...request }: Wanted<SubscriptionTerms>,
): Promise<Subscription> {
  rejectFaults(callbackFaults(terms, approved));
  return await transactFor(deps, request, { what: "event subscription" }, async (tx) => {
    const former = await findSubscription(tx, owner);
    if (former !== null) throw exists(former.value);
    const now = deps.clock();
    const made = { ...owner, ...terms, id: crypto.randomUUID(), createdAt: now, updatedAt: now };
    stageSubscription(tx, null, made);
    return made;
  });
}

function exists({ id }: Subscription): ApiError {
  const message = `It exists, with the EventSubscriptionId ${id}. Use PUT.`;
  return new ApiError("subscription.exists", { faults: [{ code: "Rules.ResourceAlreadyExists", message }] });
}

/** @throws {ApiError} `resource.invalid_fields`, `resource.not_found` */
export async function changeSubscription(
  deps: TransactDeps,
  { owner, id, terms: { namedId = id, ...terms }, approved, ...request }:
    & Wanted<SubscriptionChange>
    & { readonly id: string },
): Promise<Subscription> {
  const path = "Data.EventSubscriptionId";
  const other: Fault = { code: "Field.Invalid", path, message: "Must be the id in the path." };
  rejectFaults([...callbackFaults(terms, approved), ...(namedId === id ? [] : [other])]);
  return await transactFor(deps, request, { what: "event subscription" }, async (tx) => {
    const former = await requireOwn(tx, owner, id);
    const { callbackUrl: _, ...kept } = former.value;
    const changed = { ...kept, ...terms, updatedAt: deps.clock() };
    stageSubscription(tx, former, changed);
    return changed;
  });
}

/** @throws {ApiError} `resource.not_found` */
export async function unsubscribe(
  deps: TransactDeps,
  { owner, id, ...request }: Command & { readonly id: string },
): Promise<void> {
  await transactFor(deps, request, { what: "event subscription" }, async (tx) => {
    stageSubscriptionEnd(tx, await requireOwn(tx, owner, id));
  });
}

/** Another client's subscription is not found, because the owner is part of the key (contract EVT5). */
async function requireOwn(tx: Reader, owner: EventOwner, id: string): Promise<Entry<Subscription>> {
  const entry = await findSubscription(tx, owner);
  if (entry === null || entry.value.id !== id) throw new ApiError("resource.not_found");
  return entry;
}

/** Events are pushed only to the address that the directory has approved (Decision T2). */
function callbackFaults({ callbackUrl }: SubscriptionTerms, approved: string | undefined): Fault[] {
  if (callbackUrl === undefined || callbackUrl === approved) return [];
  const message = approved === undefined
    ? "Must be absent: your software statement has no event_notification_uri."
    : "Must be the event_notification_uri of your software statement.";
  return [{ code: "Field.Invalid", path: "Data.CallbackUrl", message }];
}

function rejectFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new ApiError("resource.invalid_fields", { faults });
}
