/** Decodes request bodies to the payment data of consents and payments. */
import { decodeConsentRequest } from "../../../../src/platform/core/consents/consent_schema.ts";
import { type PaymentData } from "../../../../src/platform/core/consents/initiation.ts";
import { decodePaymentRequest } from "../../../../src/platform/core/payments/payment_schema.ts";
import { edited, without } from "../../guards/http/edited.ts";
import { CONTEXT } from "testing/bodies.ts";

const CONSENT_ID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

/** The data of a decoded consent or payment to compare, from `{Data: {Initiation}, Risk}` sent as a payment. */
export function paymentDataOf(body: unknown): PaymentData {
  const sent = without(
    without(without(body, "Data.ReadRefundAccount"), "Data.Authorisation"),
    "Data.SCASupportData",
  );
  return decodePaymentRequest(edited(sent, "Data.ConsentId", CONSENT_ID), CONTEXT);
}

export function consentDataOf(body: unknown): PaymentData {
  return decodeConsentRequest(body, CONTEXT);
}
