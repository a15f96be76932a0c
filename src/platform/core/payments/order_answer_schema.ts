/** A bank's answer to a pushed order (Decision D4). */
import { z } from "@hono/zod-openapi";
import { type Failure, mismatch } from "../../../base/kernel/result.ts";
import { strictJson } from "../../../base/kernel/json.ts";

const ANSWERS = ["AcceptedSettlementInProcess", "Rejected"] as const;

/** The bank's possible responses to an order. */
export type OrderAnswer = typeof ANSWERS[number];

/** For the OpenAPI document, and member by member for {@link decodeOrderAnswer}. */
export const orderAnswerSchema = z.looseObject({
  Status: z.enum(ANSWERS),
  StatusReason: z.string().optional().openapi({
    description: "With Rejected, for the TPP: begins with the ISO 20022 status reason code, if there is one.",
    example: "AM04: Insufficient funds",
  }),
}).openapi("PaymentOrderAnswer");

/** Decodes an answer. A `StatusReason` that is no text is ignored, because the status decides the payment. */
export function decodeOrderAnswer(
  text: string,
): { readonly ok: true; readonly answer: OrderAnswer; readonly reason?: string } | Failure {
  const parsed = strictJson(text);
  const value = parsed.ok ? parsed.value : undefined;
  if (!isObject(value)) return mismatch("body", "a JSON object with Status");
  const { Status, StatusReason } = orderAnswerSchema.shape;
  const status = Status.safeParse(value.Status);
  if (!status.success) return mismatch("Status", ANSWERS.join(" or "), value.Status);
  const reason = StatusReason.safeParse(value.StatusReason).data;
  return { ok: true, answer: status.data, ...(reason === undefined ? {} : { reason }) };
}

function isObject(value: unknown): value is { readonly Status?: unknown; readonly StatusReason?: unknown } {
  return typeof value === "object" && value !== null;
}
