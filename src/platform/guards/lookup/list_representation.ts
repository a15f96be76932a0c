/** The representation that pages of consents and of payments share. */
import { z } from "@hono/zod-openapi";
import type { ListPage } from "./read_list.ts";

export type { ListPage };

/** Members of `Data`, for the OpenAPI document. */
export const pageData = {
  After: z.string().optional().openapi({ description: "Where the next page starts; absent at the end." }),
  IsComplete: z.boolean().openapi({
    description:
      "`false` while the platform still adds what an earlier version has created. Then older entries may be missing.",
  }),
};

export function representPage({ after, isComplete }: ListPage<unknown>): object {
  return { ...(after === undefined ? {} : { After: after }), IsComplete: isComplete };
}
