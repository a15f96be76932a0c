/** Schema of the answer to a change that is stored as a proposal. */
import { z } from "zod";

export const proposed = z.strictObject({
  proposal_id: z.string(),
  state: z.literal("proposed"),
  expires_at: z.iso.datetime(),
}).meta({ id: "Proposed" });
