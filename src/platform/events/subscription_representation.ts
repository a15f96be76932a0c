/** Event subscriptions as their owner reads them (OBIE Event Notification 4.0.1). */
import type { z } from "@hono/zod-openapi";
import { filledPath, SUBSCRIPTIONS_PATH } from "../config/paths.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import { SUBSCRIBED_TYPE, SUBSCRIBED_VERSION, type Subscription } from "./subscription.ts";
import type { subscriptionSchema, subscriptionsSchema } from "./subscription_schema.ts";

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
    ...(namesTypes ? { EventTypes: [SUBSCRIBED_TYPE] } : {}),
  };
}

function pathOf(baseUrl: string, bank: BankCode): string {
  return `${baseUrl}${filledPath(SUBSCRIPTIONS_PATH, { bank })}`;
}
