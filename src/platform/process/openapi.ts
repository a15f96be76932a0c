/** The OpenAPI 3.1 documents of the participants' hosts and of the operations host, generated from the mounted routes. */
import type { OpenAPIRegistry, RouteConfig } from "@asteasolutions/zod-to-openapi";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { documentedRoutes, openApiDocument } from "../../base/http/openapi.ts";
import type { Config } from "../config/config.ts";
import { registerAnswers } from "../guards/http/openapi_answers.ts";
import { SCHEMES } from "../guards/http/openapi_parameters.ts";
import { OPERATOR_SCHEME, registerOperationAnswers } from "../guards/http/operation_answers.ts";
import { type JwtKind, sealedQuery, signedText } from "../guards/http/jwt_schema.ts";
import { HANDOVER_JWT } from "../core/frontchannel/handover_representation.ts";
import { RESULT_JWT } from "../core/frontchannel/result_jwt_schema.ts";
import { orderAnswerSchema } from "../core/payments/order_answer_schema.ts";
import { ORDER_JWT } from "../core/payments/payment_order_representation.ts";
import { EVENT_JWT } from "../events/event_claims_representation.ts";
import { pushErrorSchema } from "../events/push_answer_schema.ts";
import { INQUIRY_JWT } from "../operations/recovery/order_inquiry_representation.ts";
import { STATEMENT_JWT } from "../operations/recovery/order_statement_schema.ts";

const TAGS = [
  {
    name: "Registration",
    description: "Dynamic client registration (RFC 7591) with a software statement, and its end (RFC 7592).",
  },
  { name: "Authorization", description: "Tokens and pushed authorization requests of one bank (FAPI 2.0)." },
  { name: "Consents", description: "Domestic payment consents, for TPPs." },
  { name: "Payments", description: "Domestic payments, for TPPs." },
  { name: "Events", description: "What happened to a TPP's consents and payments." },
  { name: "Traces", description: "What the platform did with a participant's requests." },
  { name: "Evidence", description: "The bundle of a participant's own case." },
  { name: "Disputes", description: "Disputes about payments, for TPPs and banks." },
  { name: "Back channel", description: "For banks: consents, payer accounts and payment orders." },
  { name: "Browser", description: "Addresses that the customer's browser opens." },
  { name: "Discovery", description: "What anyone may read of the authorization servers." },
  { name: "Operation", description: "Health, and this document." },
];

/** Returns the document. Each operation names its host. */
export function platformDocument(
  { baseUrl, authUrl }: Pick<Config, "baseUrl" | "authUrl">,
  [api, browser]: readonly [api: readonly Endpoint[], browser: readonly Endpoint[]],
): object {
  const frame = {
    title: "Payment initiation platform",
    description:
      "Domestic payment initiation with explicit consent: FAPI 2.0, DPoP-bound tokens, mTLS, signed payloads. The schemas of " +
      "responses are exact for this version. Later versions may add optional members and values: ignore what you do not know.",
    contact: { name: "Developer portal", url: `${authUrl}/docs` },
    servers: [
      { url: baseUrl, description: "API host (client certificate required)" },
      { url: authUrl, description: "Browser authorization host" },
    ],
    tags: TAGS,
    webhooks: WEBHOOKS,
    components,
  };
  const at = (url: string, endpoints: readonly Endpoint[]): RouteConfig[] =>
    documentedRoutes(endpoints).map((route) => ({ ...route, servers: [{ url }] }));
  return openApiDocument(frame, [...at(baseUrl, api), ...at(authUrl, browser)]);
}

const OPERATIONS_TAGS = [
  { name: "Evidence", description: "The evidence log's checkpoint and proofs." },
  { name: "Disputes", description: "What a TPP and its bank dispute, and the decision." },
  { name: "Search", description: "Finds a payment by any id." },
  { name: "Histories", description: "Who did what, when and why." },
  { name: "Proposals", description: "Changes that need two operators." },
  { name: "Own", description: "What belongs to the organisation of a participant who is signed in." },
  { name: "Reports", description: "Availability, answers and volumes by day." },
  { name: "Participants", description: "Registered TPPs and banks, and whether they are active." },
  { name: "Controls", description: "What operators block, revoke, hold and announce." },
  { name: "Payment orders", description: "Orders that wait, are held or were given up." },
  { name: "Events", description: "Pushes of events to TPPs: how they stand, and dead events sent again." },
  { name: "Restore", description: "Banks whose orders are held after a restore of the store." },
  { name: "State", description: "The process that answers, and this document." },
];

/** Returns the document of the operations API, whose health endpoints are in the participants' document. */
export function operationsDocument(
  { authUrl }: Pick<Config, "authUrl">,
  operations: readonly Endpoint[],
): object {
  const url = "/";
  const frame = {
    title: "Operations API of the payment initiation platform",
    description: "For the platform's own operators and their tools, on a listener of its own.",
    contact: { name: "Platform", url: authUrl },
    servers: [{ url, description: "The operations listener" }],
    tags: OPERATIONS_TAGS,
    components: operationsComponents,
  };
  const guarded = documentedRoutes(operations).filter(({ path }) => path.startsWith("/operations/"));
  return openApiDocument(frame, guarded.map((route) => ({ ...route, servers: [{ url }] })));
}

function operationsComponents(registry: OpenAPIRegistry): void {
  registry.registerComponent("securitySchemes", OPERATOR_SCHEME, {
    type: "http",
    scheme: "bearer",
    description: "An operator's token.",
  });
  registerOperationAnswers(registry);
}

function components(registry: OpenAPIRegistry): void {
  registry.registerComponent("securitySchemes", SCHEMES.certificate, {
    type: "mutualTLS",
    description: "The participant's transport certificate; its key is a `use: tls` key of the directory.",
  });
  for (const scope of ["payments", "bank"] as const) {
    registry.registerComponent("securitySchemes", SCHEMES[scope], {
      type: "http",
      scheme: "DPoP",
      description:
        `\`Authorization: DPoP <access token>\` of scope \`${scope}\`, with a proof by the token's key in ` +
        "the header `DPoP` (RFC 9449).",
    });
  }
  registerAnswers(registry);
  for (const { name, claims } of JWT_KINDS) registry.register(name, claims);
}

/** The JWTs whose claims the document has. */
const JWT_KINDS: readonly JwtKind[] = [
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

const WEBHOOKS: readonly RouteConfig[] = [handover, order, inquiry, event];

function jose(schema: ReturnType<typeof signedText>) {
  return { required: true, content: { "application/jose": { schema } } };
}
