/** Payments as TPPs receive them (contract PR2). */
import { z } from "@hono/zod-openapi";
import { withoutName } from "../consents/initiation.ts";
import {
  linksOf,
  type ListPage,
  pageData,
  pageLinks,
  representPage,
} from "../../guards/lists/list_representation.ts";
import {
  currencyCode,
  patterned,
  reasonCodeSchema,
  representReasonCode,
  text,
  toWire,
} from "../../guards/http/wire_fields.ts";
import type { Account } from "../../../base/values/account.ts";
import {
  listedInitiation,
  listedInitiationSchema,
  namedAccountSchema,
  paidInitiation,
  paidInitiationSchema,
  wireDateTimeSchema,
} from "../consents/initiation_representation.ts";
import { filledPath, PAYMENTS_PATH } from "../../config/paths.ts";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { MAX_STATUS_REASON_CHARACTERS } from "../../../base/profile.ts";
import { type Payment, PAYMENT_STATUSES, type ReadablePayment } from "./payment.ts";

const CHARGE_BEARERS = ["BorneByCreditor", "BorneByDebtor", "FollowingServiceLevel", "Shared"] as const;
const CHARGE_AMOUNT = /^(0|[1-9]\d{0,12})(\.\d{1,5})?$/; // OBIE's own amount format: a charge may be zero

export const chargeSchema = z.strictObject({
  ChargeBearer: z.enum(CHARGE_BEARERS).optional(),
  Type: text(40).optional().openapi({ example: "UK.OBIE.CHAPSOut" }),
  Amount: z.strictObject({
    Amount: patterned(CHARGE_AMOUNT, "Must be a decimal such as 0.25."),
    Currency: currencyCode(),
  }),
}).openapi("Charge");

const paymentData = {
  DomesticPaymentId: z.uuid(),
  ConsentId: z.uuid(),
  CreationDateTime: wireDateTimeSchema,
  Status: z.enum(PAYMENT_STATUSES),
  StatusUpdateDateTime: wireDateTimeSchema,
  StatusReasonCode: reasonCodeSchema,
  StatusReason: z.string().max(MAX_STATUS_REASON_CHARACTERS).optional().openapi({
    description:
      "Why the bank rejected the payment, as the bank reported it; only with the status Rejected. " +
      "Text of another party: escape it before you show it.",
    example: "Insufficient funds",
  }),
};

/** Schema of a payment, for the OpenAPI document. */
export const paymentSchema = z.strictObject({
  Data: z.strictObject({
    ...paymentData,
    Refund: z.strictObject({ Account: namedAccountSchema }).optional().openapi({
      description: "The account for a refund, if the consent has `ReadRefundAccount` `Yes`.",
    }),
    Charges: z.array(chargeSchema),
    Initiation: paidInitiationSchema,
  }),
  Links: z.strictObject({ Self: z.string().openapi({ format: "uri" }) }),
  Meta: z.strictObject({}),
}).openapi("Payment");

const listedPayment = z.strictObject({ ...paymentData, ...listedInitiationSchema }).openapi("ListedPayment");

/** Schema of a list, for the OpenAPI document. */
export const paymentsSchema = z.strictObject({
  Data: z.strictObject({ Payment: z.array(listedPayment), ...pageData }),
  Links: pageLinks,
  Meta: z.strictObject({}),
}).openapi("Payments");

/** Represents what a payment and its order have in common: ids and status. */
export function representStatus({ id, consentId, createdAt, status, statusUpdatedAt }: Payment): object {
  return {
    DomesticPaymentId: id,
    ConsentId: consentId,
    CreationDateTime: wireDateTime(createdAt),
    Status: status,
    StatusUpdateDateTime: wireDateTime(statusUpdatedAt),
  };
}

/**
 * Represents a payment for its TPP. The refund account is included only if the TPP asked for it, and is the only
 * place with the payer's name.
 */
export function representPayment(payment: ReadablePayment, baseUrl: string): object {
  return {
    Data: {
      ...statusOf(payment),
      ...(payment.readRefundAccount ? { Refund: { Account: toWire(refundAccount(payment)) } } : {}), // contract PR4
      Charges: toWire(payment.charges),
      Initiation: paidInitiation(payment.initiation),
    },
    Links: { Self: `${baseUrl}${filledPath(PAYMENTS_PATH, payment)}/${payment.id}` },
    Meta: {},
  };
}

function statusOf(payment: ReadablePayment): object {
  const { statusReason } = payment;
  const reason = statusReason === undefined ? {} : { StatusReason: statusReason }; // Decision G6
  return { ...representStatus(payment), ...representReasonCode(payment), ...reason };
}

export function representPayments(
  page: ListPage<ReadablePayment>,
  url: string,
  query: Readonly<Record<string, readonly string[]>>,
): object {
  const listed = page.found.map((payment) => ({
    ...statusOf(payment),
    ...listedInitiation(payment.initiation),
  }));
  return { Data: { Payment: listed, ...representPage(page) }, Links: linksOf(url, query, page), Meta: {} };
}

/** Includes the payer's name only if the TPP itself sent it (Decision G4). */
function refundAccount({ debtorAccount, initiation }: ReadablePayment): Account {
  const name = initiation.debtorAccount?.name;
  return { ...withoutName(debtorAccount), ...(name === undefined ? {} : { name }) };
}
