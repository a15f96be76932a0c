/** The answer to a result that a bank delivers on the back channel (contract ARS2). */
import { z } from "@hono/zod-openapi";
import type { AuthorizationSession } from "../frontchannel/authorization_session.ts";

export const resultAnswerSchema = z.strictObject({
  Data: z.strictObject({ ConsentId: z.uuid(), CorrelationId: z.uuid() }),
}).openapi("AuthorizationResultAnswer");

/** The same for every delivery of the result that counts. */
export function representDelivery(
  { consentId, correlationId }: Pick<AuthorizationSession, "consentId" | "correlationId">,
): z.infer<typeof resultAnswerSchema> {
  return { Data: { ConsentId: consentId, CorrelationId: correlationId } };
}
