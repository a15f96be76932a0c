/** The bodies of event subscriptions (OBIE Event Notification 4.0.1), and the decoding of requests. */
import { z } from "@hono/zod-openapi";
import { decode, rejectedAs } from "../guards/http/decode.ts";
import { filledPath, SUBSCRIPTIONS_PATH } from "../config/paths.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import { type Subscription, type SubscriptionTerms } from "./subscription_store.ts";
import { RESOURCE_UPDATE } from "./event_claims_representation.ts";

/** The version of OBIE's event notification API. */
const SUBSCRIBED_VERSION = "4.0";
// The one event type that a subscription may name is that of all events of the platform (contract EVT2).
const TYPE_RULE = `Must be ${RESOURCE_UPDATE}. Every event of the platform has this type.`;
const TYPES_RULE =
  `Must be an array of one element, ${RESOURCE_UPDATE}: every event of the platform has this type.`;
const VERSION_RULE = `Must be ${SUBSCRIBED_VERSION}.`;

const terms = {
  CallbackUrl: z.string().optional().openapi({
    format: "uri",
    maxLength: 2048,
    description:
      "Events are pushed here (RFC 8935). It is the `event_notification_uri` of your software statement, " +
      "byte for byte. Without it, events are for polling alone.",
  }),
  Version: z.string(VERSION_RULE).refine(
    (version) => version === SUBSCRIBED_VERSION,
    rejectedAs("Field.Invalid", VERSION_RULE),
  ).openapi({ enum: [SUBSCRIBED_VERSION] }),
  EventTypes: z.array(
    z.string(TYPE_RULE).refine((type) => type === RESOURCE_UPDATE, rejectedAs("Field.Invalid", TYPE_RULE))
      .openapi({ enum: [RESOURCE_UPDATE] }),
    TYPES_RULE,
  ).length(1, TYPES_RULE).optional(),
};
const id = z.uuid().openapi({ description: "Id of the subscription." });
const example = { CallbackUrl: "https://shop.example/events", Version: SUBSCRIBED_VERSION };
const EXAMPLE_ID = "1c2f7e5a-6d3b-4f08-9a41-5e7d0c9b8a21";

export const subscriptionRequestSchema = z.strictObject({ Data: z.strictObject(terms) })
  .openapi("EventSubscriptionRequest", { example: { Data: example } });

/** OBIE lets a TPP send the changed answer of an earlier request, so the members of an answer are taken too. */
export const subscriptionChangeSchema = z.strictObject({
  Data: z.strictObject({ EventSubscriptionId: id.optional(), ...terms }),
  Links: z.looseObject({}).optional().openapi({ description: "Ignored." }),
  Meta: z.looseObject({}).optional().openapi({ description: "Ignored." }),
}).openapi("EventSubscriptionChange", { example: { Data: example } });

const subscription = z.strictObject({ EventSubscriptionId: id, ...terms });
const around = {
  Links: z.strictObject({ Self: z.string().openapi({ format: "uri" }) }),
  Meta: z.strictObject({}),
};

export const subscriptionSchema = z.strictObject({ Data: subscription, ...around }).openapi(
  "EventSubscription",
  {
    example: {
      Data: { EventSubscriptionId: EXAMPLE_ID, ...example },
      Links: { Self: `https://api.example/BANKA/event-subscriptions/v1/${EXAMPLE_ID}` },
      Meta: {},
    },
  },
);

export const subscriptionsSchema = z.strictObject({
  Data: z.strictObject({ EventSubscription: z.array(subscription).max(1) }),
  ...around,
}).openapi("EventSubscriptions", {
  example: {
    Data: { EventSubscription: [{ EventSubscriptionId: EXAMPLE_ID, ...example }] },
    Links: { Self: "https://api.example/BANKA/event-subscriptions/v1" },
    Meta: {},
  },
});

type Terms = z.infer<typeof subscriptionRequestSchema>["Data"];

/** A decoded change. */
export interface SubscriptionChange extends SubscriptionTerms {
  /** `EventSubscriptionId`, if the body names it. */
  readonly namedId?: string;
}

/** @throws {ApiError} `resource.invalid_fields`, `resource.invalid_format` */
export function decodeSubscription(json: unknown): SubscriptionTerms {
  return termsOf(decode(subscriptionRequestSchema, json).Data);
}

/** @throws {ApiError} `resource.invalid_fields`, `resource.invalid_format` */
export function decodeSubscriptionChange(json: unknown): SubscriptionChange {
  const { Data } = decode(subscriptionChangeSchema, json);
  const { EventSubscriptionId: namedId } = Data;
  return { ...termsOf(Data), ...(namedId === undefined ? {} : { namedId }) };
}

function termsOf({ CallbackUrl, EventTypes }: Terms): SubscriptionTerms {
  const callback = CallbackUrl === undefined ? {} : { callbackUrl: CallbackUrl };
  return { ...callback, namesTypes: EventTypes !== undefined };
}

/** Event subscriptions as their owner reads them (OBIE Event Notification 4.0.1). */
export function representSubscription(
  subscription: Subscription,
  baseUrl: string,
): z.infer<typeof subscriptionSchema> {
  const Self = `${pathOf(baseUrl, subscription.bank)}/${subscription.id}`;
  return { Data: dataOf(subscription), Links: { Self }, Meta: {} };
}

/** @param subscription the client's only one, or null */
export function representSubscriptions(
  subscription: Subscription | null,
  bank: BankCode,
  baseUrl: string,
): z.infer<typeof subscriptionsSchema> {
  return {
    Data: { EventSubscription: subscription === null ? [] : [dataOf(subscription)] },
    Links: { Self: pathOf(baseUrl, bank) },
    Meta: {},
  };
}

function dataOf({ id, callbackUrl, namesTypes }: Subscription): z.infer<typeof subscriptionSchema>["Data"] {
  return {
    EventSubscriptionId: id,
    ...(callbackUrl === undefined ? {} : { CallbackUrl: callbackUrl }),
    Version: SUBSCRIBED_VERSION,
    ...(namesTypes ? { EventTypes: [RESOURCE_UPDATE] } : {}),
  };
}

function pathOf(baseUrl: string, bank: BankCode): string {
  return `${baseUrl}${filledPath(SUBSCRIPTIONS_PATH, { bank })}`;
}
