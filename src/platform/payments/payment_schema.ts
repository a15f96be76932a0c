/** The body of POST domestic-payments: its schema, which is also its documentation, and its decoding. */
import { z } from "@hono/zod-openapi";
import type { Initiation, Risk } from "../consents/initiation.ts";
import {
  initiationFaults,
  initiationOf,
  initiationSchema,
  riskSchema,
  type Supported,
} from "../consents/initiation_schema.ts";
import { decode } from "../http/decode.ts";
import { text } from "../http/wire_fields.ts";

/** A decoded payment request, with the field names of the API. It is not yet compared with its consent. */
export interface PaymentRequest {
  readonly Data: {
    /** As sent: 1 to 128 characters, not necessarily a consent id. */
    readonly ConsentId: string;
    readonly Initiation: Initiation;
  };
  readonly Risk: Risk;
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
    Data: {
      ConsentId: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
      Initiation: {
        InstructionIdentification: "ORDER-1001",
        EndToEndIdentification: "ORDER-1001",
        InstructedAmount: { Amount: "19.90", Currency: "EUR" },
        CreditorAccount: {
          SchemeName: "UK.OBIE.IBAN",
          Identification: "GB33BUKB20201555555555",
          Name: "Example Shop Ltd",
        },
        RemittanceInformation: { Reference: "ORDER-1001" },
      },
    },
    Risk: { PaymentContextCode: "EcommerceGoods", MerchantCategoryCode: "5732" },
  },
});

/**
 * Decodes a payment request. The field rules are those of a consent.
 *
 * @param supported currencies and account schemes
 * @throws {ApiError} `resource.invalid_fields` naming every faulty place; `resource.invalid_format`
 */
export function decodePaymentRequest(
  value: unknown,
  supported: Supported,
): PaymentRequest {
  const wire = decode(paymentRequestSchema, value, initiationFaults(value, supported));
  return { ...wire, Data: { ...wire.Data, Initiation: initiationOf(wire.Data.Initiation) } };
}
