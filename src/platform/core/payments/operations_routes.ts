/**
 * `/operations/payment-orders`: lists orders without an answer for operators, and retries or closes dead ones.
 */
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { operationAnswer, operationRoute, proposedOr } from "../../guards/http/operation_answers.ts";
import { asBankCode, asPaymentId, type BankCode } from "../../../base/kernel/identifiers.ts";
import { PAGE, type Page, readPage } from "../../../base/store/page.ts";
import type { OrderPlace } from "./order_outbox_store.ts";
import { closeOrder, type CloseOrderDeps } from "./close_order.ts";
import { invalidRequest, operationBody } from "../../guards/security/operation_body.ts";
import { operation } from "../../guards/security/operation.ts";
import type { PaymentOrder } from "./payment_order.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { PaymentStore } from "./payment_store.ts";
import { redriveOrder, type RedriveOrderDeps } from "./redrive_order.ts";
import {
  closedOrderSchema,
  closeOrderSchema,
  dueOrderSchema,
  type OpenOrder,
  openOrdersSchema,
  representOpenOrders,
} from "./open_order_representation.ts";

export interface OperationsRouteDeps extends RedriveOrderDeps, CloseOrderDeps {
  readonly payments: PaymentStore;
  readonly clients: Pick<ClientStore, "namesOf">;
}

const tags = ["Payment orders"];
const listRoute = operationRoute({
  method: "get",
  path: "/operations/payment-orders",
  operationId: "listOpenOrders",
  tags,
  summary: "Orders that no bank has answered: waiting, held or given up",
  description:
    "At most 100 orders: dead ones by age, held ones by bank and age, waiting ones by bank and next push. " +
    "A page can be short. Go on with `after` from its `After`, until there is none.",
  request: {
    query: z.object({
      state: z.enum(["waiting", "held", "dead"]),
      bank: z.string().optional().openapi({ description: "Of waiting and held orders." }),
      after: z.string().optional(),
    }),
  },
  answers: { 200: operationAnswer("A page of orders", openOrdersSchema) },
});
const redriveRoute = operationRoute({
  method: "post",
  path: "/operations/payment-orders/{paymentId}/redrive",
  operationId: "redriveOrder",
  tags,
  summary: "Try an order again that was given up",
  description: "The order is due at once, with all retries ahead.",
  request: { params: z.object({ paymentId: z.uuid() }) },
  answers: { 202: proposedOr("It is due now", dueOrderSchema) },
  errors: [404, 409],
});

const closeRoute = operationRoute({
  method: "post",
  path: "/operations/payment-orders/{paymentId}/close",
  operationId: "closeOrder",
  tags,
  summary: "Close an order that was given up",
  description: "The payment becomes Rejected with the status reason, and the order is never pushed again. " +
    "If the bank reports a status later, that status counts.",
  request: {
    params: z.object({ paymentId: z.uuid() }),
  },
  body: closeOrderSchema,
  answers: {
    200: operationAnswer("The payment is rejected", closedOrderSchema),
  },
  isProposable: true,
  errors: [404, 409],
});

export function operationsRoutes(deps: OperationsRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(listRoute, [], async (c) => {
      const { found, next } = await listOrders(deps, c.req.query());
      const after = next === undefined ? undefined : formatPlace(next);
      return c.json(representOpenOrders(await withPayments(deps, found), after));
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

interface Asked {
  readonly state?: string;
  readonly bank?: string;
  readonly after?: string;
}

async function listOrders(
  { outbox }: OperationsRouteDeps,
  asked: Asked,
): Promise<Page<PaymentOrder, OrderPlace>> {
  const bank = readBank(asked);
  const paging = { after: readPlace(asked, bank), limit: PAGE };
  switch (asked.state) {
    case "dead":
      return await readPage(paging, outbox.dead);
    case "held":
      return await readPage(paging, (after, limit) => outbox.held(after, limit, bank));
    case "waiting":
      return await readPage(paging, (after, limit) => outbox.waiting(after, limit, bank));
    default:
      throw invalidRequest("state must be waiting, held or dead");
  }
}

function readBank({ state, bank: text }: Asked): BankCode | undefined {
  if (text === undefined) return undefined;
  const bank = asBankCode(text);
  if (bank === undefined || state === "dead") {
    throw invalidRequest("bank must be the code of a bank, of waiting or held orders");
  }
  return bank;
}

/** The members of a place in the list of each state, the payment's id last. */
const PLACES: Readonly<Record<string, number>> = { dead: 1, held: 2, waiting: 3 };

function readPlace({ state = "", after }: Asked, bank: BankCode | undefined): OrderPlace | undefined {
  if (after === undefined) return undefined;
  const place = after.split("@").toReversed();
  const [first, ...more] = place;
  const isPlace = asPaymentId(place.at(-1)) !== undefined && place.length === PLACES[state] &&
    (more.length === 0 || (bank === undefined ? asBankCode(first) !== undefined : first === bank)) &&
    (more.length < 2 || /^\d{15}$/.test(more[0] ?? ""));
  if (isPlace) return place;
  throw invalidRequest("after must be the After of an earlier page");
}

async function withPayments(
  { store, payments, clients }: OperationsRouteDeps,
  orders: readonly PaymentOrder[],
): Promise<readonly OpenOrder[]> {
  const paid = await Promise.all(orders.map(async (order) => {
    const payment = (await payments.find(store, order.paymentId))?.value;
    if (payment === undefined) throw new Error("an order without its payment");
    return { order, payment };
  }));
  const names = await clients.namesOf(store, paid.map(({ payment }) => payment.clientId));
  return paid.map((one) => ({ ...one, names }));
}

/** Returns the `After` of a page. */
function formatPlace(place: OrderPlace): string {
  return place.toReversed().join("@");
}
