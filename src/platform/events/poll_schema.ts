/**
 * The bodies of a poll for events (RFC 8936 §2.2, §2.3; OBIE Event Notification 4.0.1), and the checks that the polls of
 * TPPs and banks share.
 */
import { z } from "@hono/zod-openapi";
import { decode, decoded, rejectedAs } from "../guards/http/decode.ts";
import { signedText } from "../guards/http/jwt_schema.ts";
import { text } from "../guards/http/wire_fields.ts";
import { resourceAnswer } from "../guards/http/openapi_answers.ts";
import { jsonBody, unsignedJson } from "../../base/http/body.ts";
import { EVENT_JWT } from "./event_claims_representation.ts";
import { MAX_JTI_CHARACTERS } from "./event.ts";

/** Acknowledgements in one request. With their keys they fit into one commit. */
const MAX_ACKS = 500;
/** Errors in one request. Each is a version check, of which Deno KV takes 100 in a commit. Replay records are checks too. */
const MAX_ERRORS = 90;
/** Events in one response. Each is signed: about 2 ms of a processor. */
export const MAX_EVENTS = 50;

const WHOLE_NUMBER = "Must be a whole number, 0 or more.";

const jti = text(MAX_JTI_CHARACTERS);

export const pollRequestSchema = z.strictObject({
  ack: z.array(jti).max(MAX_ACKS).optional().openapi({
    description: "The `jti` of each event that you have stored. It is deleted. An unknown one is ignored.",
  }),
  setErrs: z.record(z.string(), z.strictObject({ err: text(40), description: text(256) }))
    .refine(
      (errors) => Object.keys(errors).length <= MAX_ERRORS,
      rejectedAs("Field.Invalid", `Must have at most ${MAX_ERRORS} members.`),
    ).optional().openapi({
      description:
        `By \`jti\`: events that you could not use, with an error code of RFC 8935 §2.4, at most ${MAX_ERRORS}. They are kept, ` +
        "and sent again after 1, 2, 4 … 512 seconds.",
    }),
  maxEvents: z.number(WHOLE_NUMBER).refine(
    (value) => Number.isSafeInteger(value) && value >= 0,
    rejectedAs("Field.Invalid", WHOLE_NUMBER),
  ).optional().openapi({
    type: "integer",
    minimum: 0,
    description: `At most this many events, and at most ${MAX_EVENTS}. 0: only acknowledge.`,
  }),
  returnImmediately: z.boolean().optional().openapi({
    description: "If not true and no event is there, the response waits for one, for 15 seconds at most.",
  }),
}).openapi("EventPolling", { example: { maxEvents: 10, returnImmediately: true } });

export const pollResponseSchema = z.strictObject({
  moreAvailable: z.boolean().openapi({ description: "Whether further events can be fetched now." }),
  sets: z.record(z.string(), z.string().openapi(signedText(EVENT_JWT))).openapi({
    description:
      "Signed security event tokens (RFC 8417) by `jti`, those of a consent or a payment in their order.",
  }),
}).openapi("EventPollingResponse");

/** A decoded poll. */
export type PollRequest = z.infer<typeof pollRequestSchema>;

/** @throws {ApiError} `resource.invalid_fields` naming every faulty place; `resource.invalid_format` */
function decodePollRequest(json: unknown): PollRequest {
  return decode(pollRequestSchema, json);
}

/** Request and responses, for the OpenAPI document. */
export const pollDescription = {
  body: pollRequestSchema,
  answers: { 200: resourceAnswer("The events that are not acknowledged, oldest first", pollResponseSchema) },
} as const;

/** The checks of the body of a poll. */
export const pollBody = [jsonBody, unsignedJson, decoded(decodePollRequest)] as const;
