/** Requests that did not succeed, by the reason of the error catalogue, on the wire. */
import { z } from "@hono/zod-openapi";

export const reasonsSchema = z.array(
  z.strictObject({
    Reason: z.string().openapi({ description: "Of the error catalogue.", example: "token.expired" }),
    Requests: z.int(),
  }).openapi("CountedReason"),
).openapi({ description: "Requests that did not succeed, by reason, the most frequent first." });

export function representReasons(reasons: Readonly<Record<string, number>>): z.infer<typeof reasonsSchema> {
  return Object.entries(reasons)
    .toSorted(([a, one], [b, other]) => other - one || a.localeCompare(b))
    .map(([Reason, Requests]) => ({ Reason, Requests }));
}
