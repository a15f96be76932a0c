/** A bank's answer to a pushed order (Decision D4). */
import { z } from "@hono/zod-openapi";
import { type Failure, mismatch } from "../../../base/kernel/result.ts";
import { isJsonObject, strictJson } from "../../../base/kernel/json.ts";
import { answeredWord, usableWord } from "./bank_word_schema.ts";
import type { BankWord } from "./payment.ts";

const ANSWERS = ["AcceptedSettlementInProcess", "Rejected"] as const;

/** The bank's possible responses to an order. */
export type OrderAnswer = typeof ANSWERS[number];

/** For the OpenAPI document, and member by member for {@link decodeOrderAnswer}. */
export const orderAnswerSchema = z.looseObject({
  Status: z.enum(ANSWERS),
  ...answeredWord,
}).openapi("PaymentOrderAnswer");

/** An answer of a bank to an order. */
export interface AnsweredOrder extends BankWord {
  readonly ok: true;
  readonly answer: OrderAnswer;
}

/** Decodes an answer. What is unusable beside the status is ignored. */
export function decodeOrderAnswer(text: string): AnsweredOrder | Failure {
  const parsed = strictJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return mismatch("body", "a JSON object with Status");
  const { Status } = parsed.value;
  const status = orderAnswerSchema.shape.Status.safeParse(Status);
  if (!status.success) return mismatch("Status", ANSWERS.join(" or "), Status);
  return { ok: true, answer: status.data, ...usableWord(parsed.value) };
}
