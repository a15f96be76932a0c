/** What the platform sends to the addresses of participants, for the OpenAPI document. */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import { HANDOVER_JWT } from "../core/frontchannel/handover_representation.ts";
import { RESULT_JWT } from "../core/frontchannel/result_jwt_schema.ts";
import { orderAnswerSchema } from "../core/payments/order_answer_schema.ts";
import { ORDER_JWT } from "../core/payments/payment_order_representation.ts";
import { EVENT_JWT } from "../events/event_claims_representation.ts";
import { type JwtKind, sealedQuery, signedText } from "../guards/http/jwt_schema.ts";
import { INQUIRY_JWT } from "../operations/recovery/order_inquiry_representation.ts";
import { STATEMENT_JWT } from "../operations/recovery/order_statement_schema.ts";
import { pushErrorSchema } from "../events/push_answer_schema.ts";

/** The JWTs whose claims the document has. */
export const JWT_KINDS: readonly JwtKind[] = [
  HANDOVER_JWT,
  RESULT_JWT,
  ORDER_JWT,
  INQUIRY_JWT,
  STATEMENT_JWT,
  EVENT_JWT,
];

const toOrders = "To the bank's `payment_orders_uri`. ";

const handover: RouteConfig = {
  method: "get",
  path: "customerHandover",
  tags: ["Browser"],
  operationId: "receiveCustomer",
  summary: "The customer arrives at the bank",
  description:
    "The customer's browser opens the bank's redirect URL. Only a JWT of the platform may open a session.",
  security: [],
  request: { query: sealedQuery(HANDOVER_JWT) },
  responses: {
    200: { description: "The bank's login" },
    "4XX": { description: "A page: the JWT is not acceptable" },
  },
};

const order: RouteConfig = {
  method: "post",
  path: "paymentOrder",
  tags: ["Back channel"],
  operationId: "receivePaymentOrder",
  summary: "A payment order is pushed",
  description: `${toOrders}It is pushed again until the bank has answered, and is executed once by its id.`,
  security: [],
  request: { body: jose(signedText(ORDER_JWT)) },
  responses: {
    200: {
      description: "The bank has taken or rejected the order",
      content: { "application/json": { schema: orderAnswerSchema } },
    },
    "4XX": { description: "The order is not acceptable, and is not executed" },
    "5XX": { description: "Later: the order is pushed again" },
  },
};

const inquiry: RouteConfig = {
  method: "post",
  path: "orderInquiry",
  tags: ["Back channel"],
  operationId: "answerOrderInquiry",
  summary: "After a restore, the platform asks for the bank's orders",
  description: `${toOrders}Answering is optional.`,
  security: [],
  request: { body: jose(signedText(INQUIRY_JWT)) },
  responses: {
    200: {
      description: "A page of the bank's signed statement",
      content: { "application/jose": { schema: signedText(STATEMENT_JWT) } },
    },
    "4XX": { description: "The bank does not answer inquiries" },
  },
};

const event: RouteConfig = {
  method: "post",
  path: "event",
  tags: ["Events"],
  operationId: "receiveEvent",
  summary: "An event is pushed (RFC 8935)",
  description: "To the `CallbackUrl` of the TPP's subscription.",
  security: [],
  request: {
    body: { required: true, content: { "application/secevent+jwt": { schema: signedText(EVENT_JWT) } } },
  },
  responses: {
    202: { description: "The event is stored, and is not sent again" },
    400: {
      description: "The event cannot be used",
      content: { "application/json": { schema: pushErrorSchema } },
    },
  },
};

export const WEBHOOKS: readonly RouteConfig[] = [handover, order, inquiry, event];

function jose(schema: ReturnType<typeof signedText>) {
  return { required: true, content: { "application/jose": { schema } } };
}
