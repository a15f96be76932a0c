/** `/{BANK}/domestic-payments/v1` (contract EP9, EP10). */
import { z } from "@hono/zod-openapi";
import type { HonoRequest } from "hono";
import { consentAhead } from "../consents/consent_store.ts";
import type { Supported } from "../consents/initiation_schema.ts";
import type { RequestFacts } from "../../../base/http/context.ts";
import { jsonBody } from "../../../base/http/body.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { decoded } from "../../guards/http/decode.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import {
  bankParameter,
  idempotencyKey,
  idempotentHeaders,
  resourceRoute,
} from "../../guards/http/openapi_parameters.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { Reader } from "../../../base/store/store.ts";
import {
  decodeListQuery,
  expectParameters,
  LIST_DESCRIPTION,
  listParameters,
} from "../../guards/lists/list_query_schema.ts";
import { filledPath, PAYMENTS_PATH } from "../../config/paths.ts";
import { claimAhead, type idempotent } from "../../guards/idempotency/idempotent.ts";
import {
  type AccessToken,
  firstReads,
  type Requirement,
  requireScope,
} from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import { createPayment, type CreatePaymentDeps } from "./create_payment.ts";
import { listPayments } from "./list_payments.ts";
import {
  paymentSchema,
  paymentsSchema,
  representPayment,
  representPayments,
} from "./payment_representation.ts";
import { decodePaymentRequest, paymentRequestSchema } from "./payment_schema.ts";
import { type Payment, PAYMENT_STATUSES } from "./payment.ts";
import { paymentAhead } from "./payment_store.ts";
import { findByIdempotencyKey, PAYMENT_CLAIMS, readPayment } from "./read_payment.ts";

export interface PaymentRouteDeps extends CreatePaymentDeps, Supported {
  readonly guards: ResourceGuards;
  readonly idempotent: ReturnType<typeof idempotent>;
  readonly baseUrl: string;
}

/** The path of one payment. */
export const paymentParameter = bankParameter.extend({
  paymentId: z.string().openapi({ format: "uuid" }),
});
const CUSTOMER: Requirement = { scope: "payments", grants: ["authorization_code"] };
/** The token that lists payments. */
const TPP: Requirement = { scope: "payments", grants: ["client_credentials"] };
/** The token that reads a payment. */
export const TPP_OR_CUSTOMER: Requirement = {
  scope: "payments",
  grants: ["client_credentials", "authorization_code"],
};
const found = resourceAnswer("The payment with its current status", paymentSchema);

const createPaymentRoute = resourceRoute({
  method: "post",
  path: PAYMENTS_PATH,
  tags: ["Payments"],
  operationId: "createDomesticPayment",
  summary: "Make the payment that the customer consented to",
  description:
    "For the token of the consent's authorization code. A retry with the same `x-idempotency-key` and " +
    "body within 24 hours returns the same payment with its current status.",
  scopes: ["payments"],
  headers: idempotentHeaders.extend({ "x-fapi-financial-id": z.string().optional() }),
  body: paymentRequestSchema,
  answers: { 201: resourceAnswer("Made, now or before by the same key and body", paymentSchema) },
});

const readPaymentRoute = resourceRoute({
  method: "get",
  path: `${PAYMENTS_PATH}/{paymentId}`,
  tags: ["Payments"],
  operationId: "getDomesticPayment",
  summary: "Read a payment",
  description: "For a token of the client credentials grant, or for the token of the payment's consent.",
  scopes: ["payments"],
  params: paymentParameter,
  answers: { 200: found },
});

const findPaymentRoute = resourceRoute({
  method: "get",
  path: PAYMENTS_PATH,
  tags: ["Payments"],
  operationId: "findDomesticPayment",
  summary: "List your payments at the bank, or find the one that an idempotency key made",
  description:
    "With `idempotency-key`: the payment that the key made within 24 hours, for a TPP that has lost the answer to its " +
    "POST. Without: the list, oldest first, for a token of the client credentials grant. " + LIST_DESCRIPTION,
  scopes: ["payments"],
  query: listParameters(PAYMENT_STATUSES).extend({ "idempotency-key": idempotencyKey.optional() }),
  answers: {
    200: resourceAnswer(
      "The payment, or at most 100 payments, with their current statuses",
      z.union([paymentSchema, paymentsSchema]),
    ),
  },
});

export function paymentRoutes(deps: PaymentRouteDeps): readonly PlatformEndpoint[] {
  return [createEndpoint(deps), ...readEndpoints(deps)];
}

function createEndpoint(deps: PaymentRouteDeps): PlatformEndpoint {
  const { certificate, limit, bank, token, payloadSignature, active } = deps.guards;
  const claim = claimAhead(PAYMENT_CLAIMS);
  const replay = deps.idempotent(PAYMENT_CLAIMS, async (c, paymentId) => {
    const by = { bank: c.get("bank").code, token: c.get("access").token };
    const { value } = await readPayment(deps, c.get("reads"), paymentId, by);
    noteSubject(c.get("facts"), value);
    return c.json(representPayment(value, deps.baseUrl), 201);
  });
  return endpoint("resource", "approved", createPaymentRoute, [
    certificate,
    limit("payments"),
    firstReads(),
    bank,
    token(CUSTOMER, (c, granted) => [...claim(c, granted), ...consentAhead(granted.consentId)]),
    fapiHeaders,
    jsonBody,
    payloadSignature,
    replay,
    active,
    decoded((json) => decodePaymentRequest(json, deps)),
  ], async (c) => {
    const { bank, request, signedBody, claim, replayRecords, interactionId, reads } = c.var;
    const { token } = c.get("access");
    const command = { token, bank, request, signedBody, claim, replayRecords, interactionId, reads };
    const payment = await createPayment(deps, command);
    noteSubject(c.get("facts"), payment);
    return c.json(representPayment(payment, deps.baseUrl), 201);
  });
}

function readEndpoints(deps: PaymentRouteDeps): readonly PlatformEndpoint[] {
  const { certificate, limit, bank, token } = deps.guards;
  const reads = firstReads((c) => paymentAhead(c.req.param("paymentId")));
  const rest = [reads, bank, token(TPP_OR_CUSTOMER), fapiHeaders] as const;
  const readChecks = [certificate, limit("reads"), ...rest] as const;
  const limitFind = limit((request) => askedKey(request) === undefined ? "lists" : "reads"); // contract LS6
  return [
    endpoint("resource", "participant", findPaymentRoute, [certificate, limitFind, ...rest], async (c) => {
      const by = { bank: c.get("bank").code, token: c.get("access").token };
      const key = askedKey(c.req);
      const query = c.req.queries();
      if (key === undefined) return c.json(await listOwn(deps, c.get("reads"), by, query));
      expectParameters(query, ["idempotency-key"]);
      const { value } = await findByIdempotencyKey(deps, c.get("reads"), key, by);
      noteSubject(c.get("facts"), value);
      return c.json(representPayment(value, deps.baseUrl));
    }),
    endpoint("resource", "participant", readPaymentRoute, readChecks, async (c) => {
      const by = { bank: c.get("bank").code, token: c.get("access").token };
      const { value } = await readPayment(deps, c.get("reads"), c.req.param("paymentId"), by);
      noteSubject(c.get("facts"), value);
      return c.json(representPayment(value, deps.baseUrl));
    }),
  ];
}

function askedKey(request: HonoRequest): string | undefined {
  return request.queries()["idempotency-key"]?.[0];
}

async function listOwn(
  deps: PaymentRouteDeps,
  from: Reader,
  { bank, token }: { readonly bank: BankCode; readonly token: AccessToken },
  query: Readonly<Record<string, string[]>>,
): Promise<object> {
  requireScope(TPP, token);
  const owner = { bank, clientId: token.clientId };
  const page = await listPayments(deps, from, owner, decodeListQuery(query, PAYMENT_STATUSES));
  return representPayments(page, `${deps.baseUrl}${filledPath(PAYMENTS_PATH, owner)}`, query);
}

function noteSubject(facts: RequestFacts, { id, consentId }: Payment): void {
  Object.assign(facts, { paymentId: id, consentId });
}
