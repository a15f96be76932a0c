/**
 * `/{BANK}/back-channel-payments/v1` (Decisions D2, D3): the bank fetches its payment orders and reports their
 * status.
 */
import { forParticipant } from "../../guards/security/standing.ts";
import { decide } from "../../evidence/personal_data.ts";
import { z } from "@hono/zod-openapi";
import { PAGE, type Page, readPage } from "../../../base/store/page.ts";
import { jsonBody } from "../../../base/http/body.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { decoded } from "../../guards/http/decode.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import { bankParameter, resourceRoute, signedHeaders } from "../../guards/http/openapi_parameters.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";
import { expectParameters } from "../../guards/lists/list_query_schema.ts";
import { settledBefore } from "../../guards/lists/settled_entries.ts";
import { ORDER_PATH, ORDERS_PATH } from "../../config/paths.ts";
import { outboxAhead } from "../payments/order_outbox_store.ts";
import { paymentAhead } from "../payments/payment_store.ts";
import type { KeysOfRequest } from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import {
  paymentOrderSchema,
  paymentOrdersSchema,
  representOrder,
  representOrders,
} from "../payments/payment_order_representation.ts";
import { findPayment, reportPaymentStatus, type ReportPaymentStatusDeps } from "./report_payment_status.ts";
import { signedJson } from "../../guards/security/payload_signature.ts";
import { bankChecks } from "./routes.ts";
import { PAYMENT_STATUSES, type ReadablePayment } from "../payments/payment.ts";
import { decodeStatusReport, statusReportSchema } from "./status_report_schema.ts";

export interface PaymentOrderRouteDeps extends ReportPaymentStatusDeps {
  readonly guards: ResourceGuards;
}

const CURSOR = /^\d{15}-[0-9a-f-]{36}$/;
const orderParameter = bankParameter.extend({
  paymentId: z.string().openapi({ format: "uuid" }),
});
const tags = ["Back channel"];

const listRoute = resourceRoute({
  method: "get",
  path: ORDERS_PATH,
  tags,
  operationId: "listPaymentOrders",
  summary: "Bank: list payment orders, oldest first",
  scopes: ["bank"],
  description:
    "Go on with `after` from the `After` of a page until there is none. A page can be short or empty " +
    "if `status` filters, and can repeat the youngest orders of the page before: a DomesticPaymentId is one order. " +
    "If `After` is the one that you have sent, wait 30 s: the orders behind it are too young.",
  query: z.object({
    status: z.enum(PAYMENT_STATUSES).optional(),
    after: z.string().optional().openapi({ pattern: CURSOR.source }),
  }),
  answers: { 200: resourceAnswer("At most 100 orders", paymentOrdersSchema) },
});
const readRoute = resourceRoute({
  method: "get",
  path: ORDER_PATH,
  tags,
  operationId: "getPaymentOrder",
  summary: "Bank: read a payment order",
  description: "The whole initiation and the payer's account.",
  scopes: ["bank"],
  params: orderParameter,
  answers: { 200: resourceAnswer("The order", paymentOrderSchema) },
});
const reportRoute = resourceRoute({
  method: "put",
  path: ORDER_PATH,
  tags,
  operationId: "reportPaymentStatus",
  summary: "Bank: report a payment's status",
  description:
    "Reporting the same status again changes nothing. A status that cannot follow the current one gets 400.",
  scopes: ["bank"],
  params: orderParameter,
  headers: signedHeaders,
  body: statusReportSchema,
  answers: { 200: resourceAnswer("The order after the report", paymentOrderSchema) },
});

export function paymentOrderRoutes(deps: PaymentOrderRouteDeps): readonly PlatformEndpoint[] {
  return [...readEndpoints(deps), reportEndpoint(deps)];
}

function readEndpoints(deps: PaymentOrderRouteDeps): readonly PlatformEndpoint[] {
  const checks = bankChecks(deps.guards, (c) => paymentAhead(c.req.param("paymentId")));
  return [
    endpoint("resource", "bank", listRoute, checks, async (c) => {
      const page = await pageOf(deps, c.get("bank").code, readFilter(c.req.queries()));
      return c.json(representOrders(page.found, page.next));
    }),
    endpoint("resource", "bank", readRoute, checks, async (c) => {
      const { value } = await findPayment(deps, c.get("reads"), c.req.param("paymentId"), c.get("bank").code);
      return c.json(representOrder(forParticipant(value)));
    }),
  ];
}

function reportEndpoint(deps: PaymentOrderRouteDeps): PlatformEndpoint {
  const keys: KeysOfRequest = (c) => {
    const id = c.req.param("paymentId");
    return [...paymentAhead(id), ...outboxAhead(id)];
  };
  return endpoint("resource", "bank", reportRoute, [
    ...bankChecks(deps.guards, keys),
    jsonBody,
    deps.guards.payloadSignature,
    signedJson,
    decoded(decodeStatusReport),
  ], async (c) => {
    const { code, clientId } = c.get("bank");
    const payment = await reportPaymentStatus(deps, {
      bank: code,
      bankClientId: clientId,
      paymentIdText: c.req.param("paymentId"),
      report: c.get("request"),
      signedBody: c.get("signedBody"),
      replayRecords: c.get("replayRecords"),
      interactionId: c.get("interactionId"),
      reads: c.get("reads"),
    });
    return c.json(representOrder(payment));
  });
}

interface Filter {
  readonly status?: string;
  readonly after?: string;
}

/**
 * Parses the query. An ignored typing error could hide an order, which would then not be paid.
 *
 * @throws {ApiError} `resource.invalid_fields`
 */
function readFilter(query: Readonly<Record<string, string[]>>): Filter {
  expectParameters(query, ["status", "after"]);
  const { status = [], after = [] } = query;
  const faults: Fault[] = [];
  if (!status.every((name) => PAYMENT_STATUSES.some((known) => known === name))) {
    const message = `Must be one of: ${PAYMENT_STATUSES.join(", ")}.`;
    faults.push({ code: "Field.Invalid", path: "status", message });
  }
  if (!after.every((cursor) => CURSOR.test(cursor))) {
    faults.push({ code: "Field.Invalid", path: "after", message: "Must be the After of an earlier page." });
  }
  if (faults.length > 0) throw new ApiError("resource.invalid_fields", { faults });
  return {
    ...(status[0] === undefined ? {} : { status: status[0] }),
    ...(after[0] === undefined ? {} : { after: after[0] }),
  };
}

/** Returns a page of orders. Its cursor is never behind an order that an older one may still overtake. */
async function pageOf(
  deps: ReportPaymentStatusDeps,
  bank: BankCode,
  { status, after }: Filter,
): Promise<Page<ReadablePayment, string>> {
  const settled = settledBefore(deps.clock());
  return await readPage({ after, limit: PAGE, settled: settled.place }, async (place, limit) => {
    const listed = await deps.payments.listOrders(bank, place, limit);
    return listed.map(({ payment, ...listed }) => {
      const shown = payment === undefined ? undefined : decide(payment, {
        present: (readable) => status === undefined || readable.status === status ? readable : undefined,
        erased: () => undefined,
        lost: () => undefined,
      });
      return { ...listed, shown, mayBeOvertaken: settled.isBefore(listed) };
    });
  });
}
