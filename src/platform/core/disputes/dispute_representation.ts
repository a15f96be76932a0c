/** The wire format of a dispute (contract DSP5). */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { DISPUTE_PATH, filledPath } from "../../config/paths.ts";
import { wireDateTimeSchema } from "../consents/initiation_representation.ts";
import { type Dispute, DISPUTE_PARTIES, DISPUTE_STATUSES, OUTCOMES } from "./dispute.ts";
import type { Statement } from "./read_dispute.ts";

/** Members of a dispute for participants and operators. */
export const disputeFields = {
  DomesticPaymentId: z.uuid(),
  ConsentId: z.uuid(),
  OpenedBy: z.enum(DISPUTE_PARTIES),
  Status: z.enum(DISPUTE_STATUSES),
  Outcome: z.enum(OUTCOMES).optional().openapi({
    description: "Of what the opener states. `Agreed`: by the other party. The others: by an operator.",
  }),
  CreationDateTime: wireDateTimeSchema,
  StatusUpdateDateTime: wireDateTimeSchema,
  DueDateTime: wireDateTimeSchema.optional().openapi({
    description: "Until when the answer, or then the decision, is expected. Absent at the end.",
  }),
};

const statement = z.strictObject({
  By: z.enum(DISPUTE_PARTIES),
  DateTime: wireDateTimeSchema,
  Statement: z.string().optional().openapi({ description: "Absent if it was erased." }),
  IsAgreed: z.boolean().optional(),
});
/** Schema of a dispute with the statements of its parties. */
export const disputeData = z.strictObject({
  ...disputeFields,
  Statement: z.array(statement).openapi({ description: "Oldest first, at most three." }),
});

/** Schema of the answer to participants. */
export const disputeSchema = z.strictObject({
  Data: disputeData,
  Links: z.strictObject({ Self: z.string().openapi({ format: "uri" }) }),
  Meta: z.strictObject({}),
}).openapi("Dispute");

/** A dispute without the statements. */
export function disputeMembers(dispute: Dispute): z.infer<z.ZodObject<typeof disputeFields>> {
  const { paymentId, consentId, openedBy, status, outcome, openedAt, updatedAt, dueAt } = dispute;
  return {
    DomesticPaymentId: paymentId,
    ConsentId: consentId,
    OpenedBy: openedBy,
    Status: status,
    ...(outcome === undefined ? {} : { Outcome: outcome }),
    CreationDateTime: wireDateTime(openedAt),
    StatusUpdateDateTime: wireDateTime(updatedAt),
    ...(dueAt === undefined ? {} : { DueDateTime: wireDateTime(dueAt) }),
  };
}

export function representStatements(
  dispute: Dispute,
  statements: readonly Statement[],
): z.infer<typeof disputeData> {
  const said = statements.map(({ by, at, text, isAgreed }) => ({
    By: by,
    DateTime: wireDateTime(at),
    ...(text === undefined ? {} : { Statement: text }),
    ...(isAgreed === undefined ? {} : { IsAgreed: isAgreed }),
  }));
  return { ...disputeMembers(dispute), Statement: said };
}

export function disputeUrl(baseUrl: string, { bank, paymentId }: Dispute): string {
  return `${baseUrl}${filledPath(DISPUTE_PATH, { bank, paymentId })}`;
}

export function representDispute(
  dispute: Dispute,
  statements: readonly Statement[],
  baseUrl: string,
): z.infer<typeof disputeSchema> {
  return {
    Data: representStatements(dispute, statements),
    Links: { Self: disputeUrl(baseUrl, dispute) },
    Meta: {},
  };
}
