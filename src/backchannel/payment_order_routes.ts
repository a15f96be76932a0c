/** `/{BANK}/back-channel-payments/v1` (Decisions D2, D3): the bank pulls its orders and reports how they went. */
import { createRoute, z } from "@hono/zod-openapi";
import { jsonBody } from "../http/body.ts";
import { endpoint, type PlatformApp } from "../http/endpoint.ts";
import { fapiHeaders } from "../http/fapi_headers.ts";
import { resourceErrors } from "../http/openapi_errors.ts";
import { bankParameter, resourceHeaders, signedHeaders } from "../http/openapi_parameters.ts";
import { parseStrictJson } from "../http/strict_json.ts";
import type { BankCode } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { PaymentOrderRef, PaymentStore } from "../payments/payment_store.ts";
import type { ResourceGuards } from "../security/resource_guards.ts";
import {
  paymentOrderSchema,
  paymentOrdersSchema,
  representOrder,
  representOrders,
} from "../payments/payment_order_representation.ts";
import { findPayment, reportPaymentStatus, type ReportPaymentStatusDeps } from "./report_payment_status.ts";
import { BANK } from "./routes.ts";
import { decodeStatusReport, statusReportSchema } from "./status_report_schema.ts";

/** What the routes need. */
export interface PaymentOrderRouteDeps extends ReportPaymentStatusDeps {
  readonly guards: ResourceGuards;
}

const PAGE = 100;
const CURSOR = /^\d{15}-[0-9a-f-]{36}$/;
const orderParameter = bankParameter.extend({
  paymentId: z.string().openapi({ param: { name: "paymentId", in: "path" }, format: "uuid" }),
});
const tags = ["Back channel"];
const one = { "application/json": { schema: paymentOrderSchema } };

const listRoute = createRoute({
  method: "get",
  path: "/{bank}/back-channel-payments/v1",
  tags,
  summary: "Bank: list payment orders, oldest first",
  request: {
    params: bankParameter,
    headers: resourceHeaders,
    query: z.object({ status: z.string().optional(), after: z.string().optional() }),
  },
  responses: {
    200: {
      description: "At most 100 orders",
      content: { "application/json": { schema: paymentOrdersSchema } },
    },
    ...resourceErrors(400, 401, 403, 404, 406, 429, 503),
  },
});
const readRoute = createRoute({
  method: "get",
  path: "/{bank}/back-channel-payments/v1/{paymentId}",
  tags,
  summary: "Bank: read a payment order",
  request: { params: orderParameter, headers: resourceHeaders },
  responses: {
    200: { description: "The order", content: one },
    ...resourceErrors(400, 401, 403, 404, 406, 429, 503),
  },
});
const reportRoute = createRoute({
  method: "put",
  path: "/{bank}/back-channel-payments/v1/{paymentId}",
  tags,
  summary: "Bank: report a payment's status",
  request: {
    params: orderParameter,
    headers: signedHeaders,
    body: { required: true, content: { "application/json": { schema: statusReportSchema } } },
  },
  responses: {
    200: { description: "The order after the report", content: one },
    ...resourceErrors(400, 401, 403, 404, 406, 413, 415, 429, 503),
  },
});

/** Mounts the payment order endpoints. */
export function paymentOrderRoutes(app: PlatformApp, deps: PaymentOrderRouteDeps): void {
  const { certificate, limit, bank, token, payloadSignature } = deps.guards;

  const guards = [certificate, limit("back_channel"), bank, token(BANK), fapiHeaders] as const;

  app.get(endpoint(app, "resource", listRoute), ...guards, async (c) => {
    const page = await pageOf(deps.payments, c.get("bank").code, c.req.query("status"), c.req.query("after"));
    return c.json(representOrders(page.orders, page.after));
  });

  app.get(endpoint(app, "resource", readRoute), ...guards, async (c) => {
    const { value } = await findPayment(deps, c.req.param("paymentId"), c.get("bank").code);
    return c.json(representOrder(value));
  });

  app.put(
    endpoint(app, "resource", reportRoute),
    ...guards,
    jsonBody,
    payloadSignature,
    async (c) => {
      const { code, clientId } = c.get("bank");
      const payment = await reportPaymentStatus(deps, {
        bank: code,
        bankClientId: clientId,
        paymentIdText: c.req.param("paymentId"),
        report: decodeStatusReport(parseStrictJson(c.get("signedBody").bytes)),
        markers: c.get("markers"),
      });
      return c.json(representOrder(payment));
    },
  );
}

/** A page of orders; a filtered page can be short or empty and still say where to go on from. */
async function pageOf(
  payments: PaymentStore,
  bank: BankCode,
  status: string | undefined,
  after: string | undefined,
): Promise<{ orders: readonly PaymentOrderRef[]; after: string | undefined }> {
  if (after !== undefined && !CURSOR.test(after)) {
    const message = "after must be the After of an earlier page.";
    throw new Refusal("resource.invalid_fields", {
      faults: [{ code: "Field.Invalid", path: "after", message }],
    });
  }
  const listed = await payments.listOrders(bank, after, PAGE);
  const orders = status === undefined ? listed : listed.filter(({ payment }) => payment.status === status);
  return { orders, after: listed.length === PAGE ? listed.at(-1)?.cursor : undefined };
}
