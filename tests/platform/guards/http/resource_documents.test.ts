/** The request schemas as OpenAPI components: required members, closed objects, sound examples. */
import { OBIE_SCHEMES } from "../../../../src/base/values/account.ts";
import { createRoute, OpenAPIHono, type z } from "@hono/zod-openapi";
import { assertEquals } from "@std/assert";
import {
  decodePayerAccounts,
  payerAccountsSchema,
} from "../../../../src/platform/core/backchannel/payer_accounts_schema.ts";
import {
  decodeStatusReport,
  statusReportSchema,
} from "../../../../src/platform/core/backchannel/status_report_schema.ts";
import {
  consentRequestSchema,
  decodeConsentRequest,
} from "../../../../src/platform/core/consents/consent_schema.ts";
import { asBankCode, asConsentId } from "../../../../src/base/kernel/identifiers.ts";
import {
  decodePaymentRequest,
  paymentRequestSchema,
} from "../../../../src/platform/core/payments/payment_schema.ts";
import { pollRequestSchema } from "../../../../src/platform/events/poll_schema.ts";
import { valueAt } from "../../../../src/platform/guards/http/decode.ts";
import { reportOnWire, requestOnWire } from "./on_wire.ts";

const BODIES: readonly (readonly [string, z.ZodType])[] = [
  ["DomesticPaymentConsentRequest", consentRequestSchema],
  ["DomesticPaymentRequest", paymentRequestSchema],
  ["PayerAccountsUpdate", payerAccountsSchema],
  ["PaymentStatusReport", statusReportSchema],
  ["EventPolling", pollRequestSchema],
];

function components(): unknown {
  const app = new OpenAPIHono();
  for (const [name, schema] of BODIES) {
    app.openAPIRegistry.registerPath(createRoute({
      method: "post",
      path: `/${name}`,
      request: { body: { required: true, content: { "application/json": { schema } } } },
      responses: { 200: { description: "taken" } },
    }));
  }
  const document = app.getOpenAPI31Document({ openapi: "3.1.0", info: { title: "test", version: "1" } });
  return document.components?.schemas;
}

Deno.test("every object of the request documents is closed to unknown members", () => {
  const open: string[] = [];
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== "object" || node === null) return;
    if (valueAt(node, ["type"]) === "object" && valueAt(node, ["additionalProperties"]) !== false) {
      open.push(path);
    }
    for (const [name, value] of Object.entries(node)) if (name !== "example") visit(value, `${path}/${name}`);
  };
  visit(components(), "");
  assertEquals(open, ["/EventPolling/properties/setErrs"]); // its members are named by jti
});

Deno.test("the request documents name what is required and how long texts may be", () => {
  const schemas = components();
  assertEquals(valueAt(schemas, ["DomesticPaymentConsentRequest", "required"]), ["Data", "Risk"]);
  assertEquals(valueAt(schemas, ["Initiation", "required"]), ["InstructedAmount", "CreditorAccount"]);
  assertEquals(valueAt(schemas, ["CreditorAccount", "required"]), ["SchemeName", "Identification", "Name"]);
  assertEquals(valueAt(schemas, ["DebtorAccount", "required"]), ["SchemeName", "Identification"]);
  assertEquals(valueAt(schemas, ["DeliveryAddress", "required"]), ["TownName", "Country"]);
  assertEquals(valueAt(schemas, ["Risk", "required"]), undefined);
  assertEquals(valueAt(schemas, ["CreditorAccount", "properties", "Name", "maxLength"]), 350);
  assertEquals(valueAt(schemas, ["DeliveryAddress", "properties", "AddressLine", "maxItems"]), 2);
  assertEquals(
    valueAt(schemas, ["InstructedAmount", "properties", "Amount", "pattern"]),
    "^(?!0\\.00$)(0|[1-9]\\d{0,12})\\.\\d{2}$",
  );
});

Deno.test("the examples of the request documents are taken by the decoders", () => {
  const schemas = components();
  const example = (name: string): unknown => valueAt(schemas, [name, "example"]);
  const consent = example("DomesticPaymentConsentRequest");
  const payment = example("DomesticPaymentRequest");
  const accounts = example("PayerAccountsUpdate");
  const bank = asBankCode(valueAt(accounts, ["Data", "BankId"]));
  const consentId = asConsentId(valueAt(accounts, ["Data", "ConsentId"]));
  if (bank === undefined || consentId === undefined) throw new Error("the example names no bank or consent");
  const supported = { currencies: ["EUR"], accountSchemes: OBIE_SCHEMES };
  assertEquals(requestOnWire(decodeConsentRequest(consent, { ...supported, now: 0 })), consent);
  assertEquals(requestOnWire(decodePaymentRequest(payment, supported)), payment);
  const report = decodePayerAccounts(accounts, {
    ...supported,
    bank,
    consentId,
    mode: "bank",
    currency: "EUR",
  });
  assertEquals(reportOnWire(report), accounts);
  assertEquals(decodeStatusReport(example("PaymentStatusReport")).status, "AcceptedSettlementCompleted");
});
