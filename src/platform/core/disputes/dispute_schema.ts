/** The body of a party's step in a dispute (contract DSP1 to DSP3). */
import { z } from "@hono/zod-openapi";
import { decode } from "../../guards/http/decode.ts";
import { text } from "../../guards/http/wire_fields.ts";
import type { Fault } from "../../../base/kernel/api_error.ts";
import { DISPUTE_ACTIONS, type DisputeAction } from "./dispute.ts";

const MAX_STATEMENT = 2000;

export interface DisputeRequest {
  readonly paymentIdText: string;
  readonly action: DisputeAction;
  readonly isAgreed?: boolean;
}

/** The schema for the OpenAPI document. */
export const disputeRequestSchema = z.strictObject({
  Data: z.strictObject({
    DomesticPaymentId: z.uuid(),
    Action: z.enum(DISPUTE_ACTIONS).openapi({
      description:
        "`Open`: of either party. `Answer`: of the other one. `Withdraw`: of the one that opened it.",
    }),
    IsAgreed: z.boolean().optional().openapi({
      description: "Of an answer: whether you agree, which ends the dispute.",
    }),
    Statement: text(MAX_STATEMENT).openapi({
      description: "What you state. The other party reads it, and it is evidence of the case.",
      example: "The payee says that the payment never came.",
    }),
  }),
}).openapi("DisputeRequest");

/** @throws {ApiError} `resource.invalid_fields` naming every faulty place; `resource.invalid_format` */
export function decodeDisputeRequest(value: unknown): DisputeRequest {
  const { DomesticPaymentId, Action, IsAgreed } =
    decode(disputeRequestSchema, value, agreementFaults(value)).Data;
  return {
    paymentIdText: DomesticPaymentId,
    action: Action,
    ...(IsAgreed === undefined ? {} : { isAgreed: IsAgreed }),
  };
}

/** Returns what a party has stated, as its evidence has it. */
export function statementIn(bytes: Uint8Array): { readonly Statement: string; readonly IsAgreed?: boolean } {
  const { Statement, IsAgreed } =
    disputeRequestSchema.parse(JSON.parse(new TextDecoder().decode(bytes))).Data;
  return { Statement, ...(IsAgreed === undefined ? {} : { IsAgreed }) };
}

function agreementFaults(value: unknown): readonly Fault[] {
  const { Action, IsAgreed } = Object(Object(value).Data);
  if ((Action === "Answer") === (IsAgreed !== undefined)) return [];
  const message = Action === "Answer" ? "Is required for an answer." : "Must be absent except in an answer.";
  return [{
    code: Action === "Answer" ? "Field.Missing" : "Field.Unexpected",
    path: "Data.IsAgreed",
    message,
  }];
}
