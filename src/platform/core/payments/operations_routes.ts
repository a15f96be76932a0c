/**
 * `/operations/payment-orders`: lists dead and held orders for operators, and retries or closes dead ones.
 */
import { createRoute, z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import {
  operationAnswer,
  operationErrors,
  OPERATOR_SECURITY,
  proposedAnswer,
  proposedOr,
} from "../../guards/http/operation_answers.ts";
import { asBankCode, asPaymentId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type Page, readPage } from "../../../base/store/page.ts";
import type { StoppedPlace } from "./order_outbox_store.ts";
import { closeOrder, type CloseOrderDeps } from "./close_order.ts";
import { operationBody } from "../../guards/security/operation_body.ts";
import { operation } from "../../guards/security/operation.ts";
import type { DeadOrder, HeldOrder } from "./payment_order.ts";
import type { PaymentStore } from "./payment_store.ts";
import { redriveOrder, type RedriveOrderDeps } from "./redrive_order.ts";
import {
  closedOrderSchema,
  closeOrderSchema,
  dueOrderSchema,
  representStoppedOrders,
  stoppedOrdersSchema,
} from "./stopped_order_representation.ts";

export interface OperationsRouteDeps extends RedriveOrderDeps, CloseOrderDeps {
  readonly payments: PaymentStore;
}

const PAGE = 100;

const tags = ["Payment orders"];
const security = OPERATOR_SECURITY;
const listRoute = createRoute({
  method: "get",
  path: "/operations/payment-orders",
  operationId: "listStoppedOrders",
  tags,
  security,
  summary: "Orders that were given up or are held",
  description:
    "At most 100 orders. A page can be short. Go on with `after` from its `After`, until there is none.",
  request: { query: z.object({ state: z.enum(["dead", "held"]), after: z.string().optional() }) },
  responses: { 200: operationAnswer("A page of orders", stoppedOrdersSchema), ...operationErrors(400) },
});
const redriveRoute = createRoute({
  method: "post",
  path: "/operations/payment-orders/{paymentId}/redrive",
  operationId: "redriveOrder",
  tags,
  security,
  summary: "Try an order again that was given up",
  description: "The order is due at once, with all retries ahead.",
  request: { params: z.object({ paymentId: z.uuid() }) },
  responses: {
    202: proposedOr("It is due now", dueOrderSchema),
    ...operationErrors(404, 409),
  },
});

const closeRoute = createRoute({
  method: "post",
  path: "/operations/payment-orders/{paymentId}/close",
  operationId: "closeOrder",
  tags,
  security,
  summary: "Close an order that was given up",
  description: "The payment becomes Rejected with the status reason, and the order is never pushed again. " +
    "If the bank reports a status later, that status counts.",
  request: {
    params: z.object({ paymentId: z.uuid() }),
    body: { required: true, content: { "application/json": { schema: closeOrderSchema } } },
  },
  responses: {
    200: operationAnswer("The payment is rejected", closedOrderSchema),
    ...proposedAnswer(),
    ...operationErrors(400, 404, 409, 413, 415),
  },
});

export function operationsRoutes(deps: OperationsRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(listRoute, [], async (c) => {
      const { found, next } = await listOrders(deps, c.req.query("state"), c.req.query("after"));
      const listed = await Promise.all(found.map(async (order) => {
        const payment = await deps.payments.find(deps.store, order.paymentId);
        if (payment === null) throw new Error("an order without its payment");
        return { order, payment: payment.value };
      }));
      return c.json(representStoppedOrders(listed, next === undefined ? undefined : textOf(next)));
    }),
    operation(redriveRoute, [], async (c) => {
      const command = { paymentIdText: c.req.param("paymentId"), operator: c.get("operator") };
      const { paymentId } = await redriveOrder(deps, command);
      return c.json({ Data: { DomesticPaymentId: paymentId, State: "due" } }, 202);
    }),
    operation(closeRoute, [operationBody(closeOrderSchema)], async (c) => {
      const { Reason: reason, StatusReason: statusReason, MayBeAtBank: mayBeAtBank = false } =
        c.get("command").Data;
      const [paymentIdText, operator] = [c.req.param("paymentId"), c.get("operator")];
      const { id } = await closeOrder(deps, { paymentIdText, operator, reason, statusReason, mayBeAtBank });
      return c.json({ Data: { DomesticPaymentId: id, State: "closed", Status: "Rejected" } });
    }),
  ];
}

async function listOrders(
  { outbox }: OperationsRouteDeps,
  state: string | undefined,
  afterText: string | undefined,
): Promise<Page<DeadOrder | HeldOrder, StoppedPlace>> {
  const paging = { after: readPlace(state, afterText), limit: PAGE };
  return state === "dead" ? await readPage(paging, outbox.dead) : await readPage(paging, outbox.held);
}

/** Dead orders are listed by payment, held ones by bank and payment. */
function readPlace(state: string | undefined, afterText: string | undefined): StoppedPlace | undefined {
  if (state !== "dead" && state !== "held") throw invalid("state must be dead or held");
  if (afterText === undefined) return undefined;
  const [idText, bankText, ...more] = afterText.split("@");
  const [paymentId, bank] = [asPaymentId(idText), asBankCode(bankText)];
  if (paymentId !== undefined && more.length === 0) {
    if (state === "dead" && bankText === undefined) return [paymentId];
    if (state === "held" && bank !== undefined) return [bank, paymentId];
  }
  throw invalid("after must be the After of an earlier page");
}

/** Returns the `After` of a page. */
function textOf(place: StoppedPlace): string {
  return place.toReversed().join("@");
}

function invalid(description: string): ApiError {
  return new ApiError("operations.invalid_request", { description });
}
