/** The bodies of a replay of events (contract EVT15), and the decoding of requests. */
import { z } from "@hono/zod-openapi";
import { instantOf } from "../../base/kernel/date_time.ts";
import { decode, rejectedAs } from "../guards/http/decode.ts";

const instant = z.string().refine(
  (text) => instantOf(text) !== undefined,
  rejectedAs("Field.Invalid", "Must be an ISO 8601 date and time with an offset."),
).openapi({ format: "date-time" });

export const replayRequestSchema = z.strictObject({
  from: instant.openapi({ description: "The first time of a change of status whose event is sent again." }),
  to: instant.openapi({ description: "The last one." }),
}).refine(({ from, to }) => (instantOf(from) ?? 0) <= (instantOf(to) ?? 0), {
  path: ["to"],
  ...rejectedAs("Field.Invalid", "Must not be before from."),
}).openapi("EventReplay", {
  example: { from: "2026-01-31T12:00:00+00:00", to: "2026-01-31T13:00:00+00:00" },
});

export const replayResponseSchema = z.strictObject({
  replayed: z.int().openapi({
    description: "How many events wait again, at most 500, or those of one millisecond.",
  }),
  next: z.string().optional().openapi({
    format: "date-time",
    description: "`from` of the next request, if there are more.",
  }),
}).openapi("EventReplayResponse");

/** @throws {ApiError} `resource.invalid_fields`, `resource.invalid_format` */
export function decodeReplay(json: unknown): { readonly from: number; readonly to: number } {
  const { from, to } = decode(replayRequestSchema, json);
  return { from: instantOf(from) ?? 0, to: instantOf(to) ?? 0 };
}
