/**
 * The body of a bank's report of a payment status (Decision D3): its schema, which is also its documentation, and its
 * decoding. Whether the change is legal is checked elsewhere.
 */
import { z } from "@hono/zod-openapi";
import { decode, rejectedAs } from "../../guards/http/decode.ts";
import { fromWire } from "../../guards/http/wire_fields.ts";
import { dayOf, instantOf } from "../../../base/kernel/date_time.ts";
import { chargeSchema } from "../payments/payment_representation.ts";
import { reportedWord, wordOf } from "../payments/bank_word_schema.ts";
import { type BankWord, type Charge, PAYMENT_STATUSES, type PaymentStatus } from "../payments/payment.ts";

const MAX_CHARGES = 20;
const LAST_SECOND_MS = 86_399_000;

export interface StatusReport extends BankWord {
  readonly status: PaymentStatus;
  /**
   * Time of the change according to the bank, milliseconds since the Unix epoch. For a bare date, its last second in
   * UTC.
   */
  readonly statusUpdatedAtMilliseconds: number;
  /** Absent if the report has no charges. */
  readonly charges?: readonly Charge[];
}

const statusUpdateDateTime = z.string()
  .refine(
    (value) => momentOf(value) !== undefined,
    rejectedAs("Field.InvalidDate", "Must be an ISO 8601 date-time with an offset, or a date."),
  )
  .openapi({
    pattern: "^[0-9W-]{7,10}(T[0-9:.,]+(Z|[+-][0-9:]{2,5}))?$",
    description: "When it happened: a date-time with an offset, or a bare date. The payment's own " +
      "StatusUpdateDateTime, but for a time before that of the status it follows, or in the future.",
    example: "2030-01-31T12:00:00+00:00",
  });

/** The schema for the OpenAPI document. Decoded by `decodeStatusReport`. */
export const statusReportSchema = z.strictObject({
  Data: z.strictObject({
    Status: z.enum(PAYMENT_STATUSES),
    StatusUpdateDateTime: statusUpdateDateTime,
    ...reportedWord,
    Charges: z.array(chargeSchema).max(MAX_CHARGES).optional(),
  }),
}).openapi("PaymentStatusReport", {
  example: {
    Data: { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2030-01-31T12:00:00+00:00" },
  },
});

/**
 * Decodes a status report.
 *
 * @throws {ApiError} `resource.invalid_fields` naming every faulty place; `resource.invalid_format`
 */
export function decodeStatusReport(value: unknown): StatusReport {
  const { Status, StatusUpdateDateTime, Charges, ...word } = decode(statusReportSchema, value).Data;
  return {
    status: Status,
    statusUpdatedAtMilliseconds: momentOf(StatusUpdateDateTime) ?? Number.NaN,
    ...wordOf(word),
    ...(Charges === undefined ? {} : { charges: fromWire(Charges) }),
  };
}

/**
 * Parses a date-time or a bare date. A bare date means the end of its day. Later code limits it to the time of the
 * report.
 */
function momentOf(text: string): number | undefined {
  const day = dayOf(text);
  return day === undefined ? instantOf(text) : day + LAST_SECOND_MS;
}
