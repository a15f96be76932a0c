/** The body of POST domestic-payments: its schema, which is also its documentation, and its decoding. */
import { z } from "@hono/zod-openapi";
import type { PaymentData } from "../consents/initiation.ts";
import {
  EXAMPLE_OF_PAYMENT,
  initiationFaults,
  initiationOf,
  initiationSchema,
  riskSchema,
  type Supported,
} from "../consents/initiation_schema.ts";
import { decode, MAX_FAULTS } from "../../guards/http/decode.ts";
import { fromWire, pathOnWire, text } from "../../guards/http/wire_fields.ts";
import type { Fault } from "../../../base/kernel/api_error.ts";

/** A decoded payment request. It is not yet compared with its consent. */
export interface PaymentRequest extends PaymentData {
  /** As sent: 1 to 128 characters, not necessarily a consent id. */
  readonly consentId: string;
}

/** The schema for the OpenAPI document. `decodePaymentRequest` checks more rules. */
export const paymentRequestSchema = z.strictObject({
  Data: z.strictObject({
    ConsentId: text(128).openapi({ example: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11" }),
    Initiation: initiationSchema,
  }),
  Risk: riskSchema,
}).openapi("DomesticPaymentRequest", {
  example: {
    Data: { ConsentId: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11", Initiation: EXAMPLE_OF_PAYMENT.Initiation },
    Risk: EXAMPLE_OF_PAYMENT.Risk,
  },
});

/**
 * Decodes a payment request. The field rules are those of a consent.
 *
 * @param supported currencies and account schemes
 * @throws {ApiError} `resource.invalid_fields` naming every faulty place; `resource.invalid_format`
 */
export function decodePaymentRequest(value: unknown, supported: Supported): PaymentRequest {
  const { Data, Risk } = decode(paymentRequestSchema, value, initiationFaults(value, supported));
  return { consentId: Data.ConsentId, initiation: initiationOf(Data.Initiation), risk: fromWire(Risk) };
}

/** Returns a fault for each difference from the consent, at most 20 (Decision C6). */
export function mismatchFaults(differences: readonly string[]): Fault[] {
  return differences.slice(0, MAX_FAULTS).map((path) => ({
    code: "Resource.ConsentMismatch",
    path: pathOnWire(path.replace(/^initiation/, "data.initiation")),
    message: "Differs from the consent.",
  }));
}
