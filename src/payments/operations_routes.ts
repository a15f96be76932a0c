/**
 * `/operations/payment-orders`: the operator's view of orders that were given up, and the way to have one tried
 * again. Mounted only where the configuration has an operator token; no part of the participants' API.
 */
import { createRoute, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { RequestVariables } from "../http/context.ts";
import { endpoint, type PlatformApp } from "../http/endpoint.ts";
import { oauthErrors } from "../http/openapi_errors.ts";
import { asPaymentId, type PaymentId } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { OperatorVariables } from "../security/operator_token.ts";
import { deadOrdersSchema, representDeadOrders } from "./dead_order_representation.ts";
import type { PaymentStore } from "./payment_store.ts";
import { redriveOrder, type RedriveOrderDeps } from "./redrive_order.ts";

/** What the routes need. */
export interface OperationsRouteDeps extends RedriveOrderDeps {
  readonly operator: MiddlewareHandler<{ Variables: RequestVariables & OperatorVariables }>;
  readonly payments: PaymentStore;
}

const PAGE = 100;

const listRoute = createRoute({
  method: "get",
  path: "/operations/payment-orders",
  hide: true,
  summary: "Operator: orders that were given up",
  request: { query: z.object({ state: z.literal("dead"), after: z.uuid().optional() }) },
  responses: {
    200: {
      description: "At most 100 orders",
      content: { "application/json": { schema: deadOrdersSchema } },
    },
    ...oauthErrors(400, 401),
  },
});
const redriveRoute = createRoute({
  method: "post",
  path: "/operations/payment-orders/{paymentId}/redrive",
  hide: true,
  summary: "Operator: have an order tried again",
  request: { params: z.object({ paymentId: z.uuid() }) },
  responses: { 202: { description: "It is due now" }, ...oauthErrors(401, 404, 409) },
});

/** Mounts them. */
export function operationsRoutes(app: PlatformApp, deps: OperationsRouteDeps): void {
  app.get(endpoint(app, "oauth", listRoute), deps.operator, async (c) => {
    const after = decodeListing(c.req.query("state"), c.req.query("after"));
    const orders = await deps.outbox.dead(after, PAGE);
    const listed = await Promise.all(orders.map(async (order) => {
      const payment = await deps.payments.find(order.paymentId);
      if (payment === null) throw new Error("an order without its payment");
      return { order, payment: payment.value };
    }));
    return c.json(representDeadOrders(listed, orders.length === PAGE ? orders.at(-1)?.paymentId : undefined));
  });

  app.post(endpoint(app, "oauth", redriveRoute), deps.operator, async (c) => {
    const command = { paymentIdText: c.req.param("paymentId"), operator: c.get("operator") };
    const { paymentId } = await redriveOrder(deps, command);
    return c.json({ Data: { DomesticPaymentId: paymentId, State: "due" } }, 202);
  });
}

function decodeListing(state: string | undefined, after: string | undefined): PaymentId | undefined {
  if (state !== "dead") throw invalid("state must be dead");
  const id = after === undefined ? undefined : asPaymentId(after);
  if (after !== undefined && id === undefined) throw invalid("after must be the After of an earlier page");
  return id;
}

function invalid(description: string): Refusal {
  return new Refusal("operations.invalid_request", { description });
}
