/** The parts that the polls of TPPs and those of banks share (RFC 8936): description and checks of the body. */
import { createMiddleware } from "hono/factory";
import { type BodyVariables, jsonBody, parseStrictJson } from "../../base/http/body.ts";
import { decoded } from "../guards/http/decode.ts";
import { resourceAnswer } from "../guards/http/openapi_answers.ts";
import { decodePollRequest, pollRequestSchema, pollResponseSchema } from "./poll_schema.ts";

/** Request and responses, for the OpenAPI document. */
export const pollDescription = {
  body: pollRequestSchema,
  answers: { 200: resourceAnswer("The events that are not acknowledged, oldest first", pollResponseSchema) },
} as const;

/** Check: parses the bytes of a body that is not signed. */
export const strictJson = createMiddleware<{ Variables: BodyVariables & { json: unknown } }>(
  async function strictJson(c, next) {
    c.set("json", parseStrictJson(c.get("body")));
    await next();
  },
);

/** The checks of the body of a poll. */
export const pollBody = [jsonBody, strictJson, decoded(decodePollRequest)] as const;
