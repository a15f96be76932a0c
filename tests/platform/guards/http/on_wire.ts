/** Decoded requests as they were sent, to compare with what a decoder was given. */
import type { PayerAccountsReport } from "../../../../src/platform/core/backchannel/payer_accounts_schema.ts";
import type { ConsentRequest } from "../../../../src/platform/core/consents/consent.ts";
import { toWire } from "../../../../src/platform/guards/http/wire_fields.ts";
import type { PaymentRequest } from "../../../../src/platform/core/payments/payment_schema.ts";

/** A decoded consent or payment request with the members of the API. */
export function requestOnWire({ risk, ...data }: ConsentRequest | PaymentRequest): unknown {
  return toWire({ data, risk });
}

/** A decoded report of payer accounts with the members of the API. */
export function reportOnWire(data: PayerAccountsReport): unknown {
  return toWire({ data });
}
