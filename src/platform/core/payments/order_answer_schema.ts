/** A bank's answer to a pushed order (Decision D4). */
import { z } from "@hono/zod-openapi";
import { type Failure, mismatch } from "../../../base/kernel/result.ts";
import { strictJson } from "../../../base/kernel/json.ts";
import { asBankReasonCode } from "../../../base/values/reason_codes.ts";
import { reportedReasonCodeSchema } from "../../guards/http/wire_fields.ts";
import type { BankWord } from "./payment.ts";

const ANSWERS = ["AcceptedSettlementInProcess", "Rejected"] as const;

/** The bank's possible responses to an order. */
export type OrderAnswer = typeof ANSWERS[number];

/** For the OpenAPI document, and member by member for {@link decodeOrderAnswer}. */
export const orderAnswerSchema = z.looseObject({
  Status: z.enum(ANSWERS),
  StatusReasonCode: reportedReasonCodeSchema,
  StatusReason: z.string().optional().openapi({
    description: "With Rejected, for the TPP. No personal data.",
    example: "Insufficient funds",
  }),
}).openapi("PaymentOrderAnswer");

/** An answer of a bank to an order. */
export interface AnsweredOrder extends BankWord {
  readonly ok: true;
  readonly answer: OrderAnswer;
}

/**
 * Decodes an answer. A `StatusReason` that is no text and a `StatusReasonCode` that is not of the list are ignored, because
 * the status decides the payment.
 */
export function decodeOrderAnswer(text: string): AnsweredOrder | Failure {
  const parsed = strictJson(text);
  const value = parsed.ok ? parsed.value : undefined;
  if (!isObject(value)) return mismatch("body", "a JSON object with Status");
  const { Status, StatusReason } = orderAnswerSchema.shape;
  const status = Status.safeParse(value.Status);
  if (!status.success) return mismatch("Status", ANSWERS.join(" or "), value.Status);
  const reason = StatusReason.safeParse(value.StatusReason).data;
  return { ok: true, answer: status.data, reasonCode: asBankReasonCode(value.StatusReasonCode), reason };
}

function isObject(
  value: unknown,
): value is Readonly<Partial<Record<keyof typeof orderAnswerSchema.shape, unknown>>> {
  return typeof value === "object" && value !== null;
}
