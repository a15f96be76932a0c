/** The status of a payment on the wire. The package's types do not name it. */
import * as z from "zod/mini";

/** What an answer about a payment and its entry in a list say of its status. */
export const statusSchema = z.object({
  Status: z.string(),
  StatusUpdateDateTime: z.string(),
  StatusReasonCode: z.optional(z.string()),
  StatusReason: z.optional(z.string()),
});
