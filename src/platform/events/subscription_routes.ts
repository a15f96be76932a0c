/** `/{BANK}/event-subscriptions/v1` (contract EVT9; OBIE Event Notification 4.0.1). */
import type { Context } from "hono";
import { z } from "@hono/zod-openapi";
import { jsonBody } from "../../base/http/body.ts";
import type { RequestVariables } from "../../base/http/context.ts";
import { decoded } from "../guards/http/decode.ts";
import { endpoint, type PlatformEndpoint } from "../guards/http/endpoint.ts";
import { emptyResourceAnswer, resourceAnswer } from "../guards/http/openapi_answers.ts";
import { bankParameter, resourceRoute, signedHeaders } from "../guards/http/openapi_parameters.ts";
import { SUBSCRIPTIONS_PATH } from "../config/paths.ts";
import type { AccessVariables } from "../guards/security/access_token.ts";
import type { ResourceGuards } from "../guards/security/resource_guards.ts";
import type { BankVariables } from "../guards/security/standing.ts";
import { signedJson } from "../guards/security/payload_signature.ts";
import { ofClient } from "./client_checks.ts";
import { changeSubscription, subscribe, unsubscribe } from "./subscribe.ts";
import { findSubscription } from "./subscription_store.ts";
import {
  decodeSubscription,
  decodeSubscriptionChange,
  representSubscription,
  representSubscriptions,
  subscriptionChangeSchema,
  subscriptionRequestSchema,
  subscriptionSchema,
  subscriptionsSchema,
} from "./subscription_schema.ts";

export type SubscriptionRouteDeps = Parameters<typeof subscribe>[0] & {
  readonly guards: ResourceGuards;
  readonly baseUrl: string;
};

const common = { tags: ["Events"], scopes: ["payments" as const] };
const idParameter = bankParameter.extend({
  eventSubscriptionId: z.string().openapi({
    format: "uuid",
  }),
});

const createSubscription = resourceRoute({
  ...common,
  method: "post",
  path: SUBSCRIPTIONS_PATH,
  operationId: "createEventSubscription",
  summary: "Subscribe to events",
  description:
    "With `CallbackUrl`, events are pushed to it. You have at most one subscription at each bank, " +
    "so a repeated request is answered with 409: read the subscription instead.",
  headers: signedHeaders,
  body: subscriptionRequestSchema,
  answers: { 201: resourceAnswer("Created", subscriptionSchema) },
  errors: [409],
});

const listSubscriptions = resourceRoute({
  ...common,
  method: "get",
  path: SUBSCRIPTIONS_PATH,
  operationId: "getEventSubscriptions",
  summary: "Read your subscription",
  description: "A list, because OBIE has it so. It has at most one subscription.",
  answers: { 200: resourceAnswer("Your subscription, if any", subscriptionsSchema) },
});

const changeRoute = resourceRoute({
  ...common,
  method: "put",
  path: `${SUBSCRIPTIONS_PATH}/{eventSubscriptionId}`,
  operationId: "changeEventSubscription",
  summary: "Change your subscription",
  description: "Replaces the subscription. Without `CallbackUrl`, pushing ends.",
  params: idParameter,
  headers: signedHeaders,
  body: subscriptionChangeSchema,
  answers: { 200: resourceAnswer("The subscription", subscriptionSchema) },
});

const deleteRoute = resourceRoute({
  ...common,
  method: "delete",
  path: `${SUBSCRIPTIONS_PATH}/{eventSubscriptionId}`,
  operationId: "deleteEventSubscription",
  summary: "End your subscription",
  description: "Pushing ends. Events are kept for polling.",
  params: idParameter,
  answers: { 204: emptyResourceAnswer("Ended") },
});

export function subscriptionRoutes(deps: SubscriptionRouteDeps): readonly PlatformEndpoint[] {
  return [createEndpoint(deps), listEndpoint(deps), changeEndpoint(deps), deleteEndpoint(deps)];
}

function createEndpoint(deps: SubscriptionRouteDeps): PlatformEndpoint {
  const { payloadSignature } = deps.guards;
  return endpoint("resource", "participant", createSubscription, [
    ...ofClient(deps.guards, "consents"),
    jsonBody,
    payloadSignature,
    signedJson,
    decoded(decodeSubscription),
  ], async (c) => {
    const subscription = await subscribe(deps, { ...readRequest(c), terms: c.get("request") });
    return c.json(representSubscription(subscription, deps.baseUrl), 201);
  });
}

function listEndpoint(deps: SubscriptionRouteDeps): PlatformEndpoint {
  return endpoint("resource", "participant", listSubscriptions, [
    ...ofClient(deps.guards, "reads"),
  ], async (c) => {
    const found = await findSubscription(c.get("reads"), ownRequest(c).owner);
    return c.json(representSubscriptions(found?.value ?? null, c.get("bank").code, deps.baseUrl));
  });
}

function changeEndpoint(deps: SubscriptionRouteDeps): PlatformEndpoint {
  const { payloadSignature } = deps.guards;
  return endpoint("resource", "participant", changeRoute, [
    ...ofClient(deps.guards, "consents"),
    jsonBody,
    payloadSignature,
    signedJson,
    decoded(decodeSubscriptionChange),
  ], async (c) => {
    const id = c.req.param("eventSubscriptionId");
    const changed = await changeSubscription(deps, { ...readRequest(c), id, terms: c.get("request") });
    return c.json(representSubscription(changed, deps.baseUrl));
  });
}

function deleteEndpoint(deps: SubscriptionRouteDeps): PlatformEndpoint {
  return endpoint("resource", "participant", deleteRoute, [
    ...ofClient(deps.guards, "consents"),
  ], async (c) => {
    await unsubscribe(deps, { ...ownRequest(c), id: c.req.param("eventSubscriptionId") });
    return c.body(null, 204);
  });
}

type Env = { Variables: RequestVariables & AccessVariables & BankVariables };
type OwnRequest = Omit<Parameters<typeof unsubscribe>[1], "id">;

function ownRequest(c: Context<Env>): OwnRequest {
  return {
    owner: { clientId: c.get("access").token.clientId, bank: c.get("bank").code },
    replayRecords: c.get("replayRecords"),
    interactionId: c.get("interactionId"),
    reads: c.get("reads"),
  };
}

function readRequest(c: Context<Env>): OwnRequest & { readonly approved: string | undefined } {
  return { ...ownRequest(c), approved: c.get("access").caller.eventNotificationUri };
}
