/** Subscriptions of a TPP to its events. */
import type { Subscription, Subscriptions } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  type CallOptions,
  clientToken,
  type FlowEnvironment,
  good,
} from "testing/flows.ts";
import type { Environment } from "testing/environment.ts";
import type { Participant } from "testing/participants.ts";
import { unchanged } from "testing/store_contents.ts";

export const SUBSCRIPTIONS = "/BANKA/event-subscriptions/v1";
export const CALLBACK = "https://shop.example/events";
export const OTHER_CALLBACK = "https://other.example/events";

export interface SubscriptionCall extends Omit<CallOptions, "body"> {
  /** By default the TPP. */
  readonly by?: Participant;
  readonly bank?: string;
  /** Its id, for PUT and DELETE. */
  readonly id?: string;
  readonly bound?: BoundToken;
}

/** The raw answer. A body makes it a POST unless the options say otherwise. */
export async function subscription(
  env: FlowEnvironment,
  Data: unknown,
  { by, bank = "BANKA", id, bound, ...options }: SubscriptionCall = {},
): Promise<Response> {
  const caller = by ?? env.tpp;
  const path = `/${bank}/event-subscriptions/v1${id === undefined ? "" : `/${id}`}`;
  const body = Data === undefined ? {} : { body: JSON.stringify({ Data }) };
  const token = bound ?? await clientToken(env, caller, bank);
  return await call(env, caller, token, path, { ...body, idempotencyKey: null, ...options });
}

/** Subscribes to pushes and returns `Data` of the answer. */
export async function subscribed(
  env: FlowEnvironment,
  { callback = CALLBACK, ...options }: SubscriptionCall & { readonly callback?: string } = {},
): Promise<Subscription["Data"]> {
  const wanted = { CallbackUrl: callback, Version: "4.0" };
  return (await good<Subscription>(subscription(env, wanted, options), 201)).Data;
}

/** `Data` of each subscription that the TPP reads. */
export async function subscriptions(
  env: FlowEnvironment,
  options: SubscriptionCall = {},
): Promise<Subscriptions["Data"]["EventSubscription"]> {
  return (await good<Subscriptions>(subscription(env, undefined, options), 200)).Data.EventSubscription;
}

/** An operator blocks the TPP's software. */
export async function block(env: Environment): Promise<void> {
  await good(
    env.asOperator(`/operations/software/${env.tpp.clientId}/block`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ Data: { Reason: "Fraud is suspected, case 4711." } }),
    }),
    200,
  );
}

/** The TPP ends its subscription. */
export async function unsubscribe(env: Environment): Promise<void> {
  const [known] = await subscriptions(env);
  await subscription(env, undefined, {
    method: "DELETE",
    ...(known === undefined ? {} : { id: known.EventSubscriptionId }),
  });
}

/** The answer to a request that must change nothing. Its token is there before. */
export async function rejectedSubscription(
  env: Environment,
  Data: unknown,
  options: SubscriptionCall = {},
): Promise<Response> {
  const bound = options.bound ?? await clientToken(env, options.by ?? env.tpp, options.bank);
  return await unchanged(env, () => subscription(env, Data, { ...options, bound }));
}
