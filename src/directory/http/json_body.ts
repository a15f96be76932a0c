/** Checks of the directory's request bodies: one bounded JSON value without ambiguities between parsers. */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { z } from "zod";
import { readJsonBytes } from "../../base/http/body.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { strictJson, utf8Text } from "../../base/kernel/json.ts";
import type { Participant } from "../participants/participant.ts";
import { decode } from "../participants/rejections.ts";

/**
 * Check: parses and decodes the body.
 *
 * @throws {ApiError} wrong media type or coding, too large, not UTF-8, not strict JSON, or not as the schema asks
 */
export function jsonBody<T>(
  schema: z.ZodType<T>,
): MiddlewareHandler<{ Variables: { json: unknown; body: T } }> {
  return createMiddleware(async function readJson(c, next) {
    c.set("json", await parseBody(c));
    c.set("body", decode(schema, c.get("json")));
    await next();
  });
}

/** As {@link jsonBody}, with the schema of the participant. An absent body stands for `{}`. */
export function optionalJsonBody<T>(
  schemaFor: (participant: Participant) => z.ZodType<T>,
): MiddlewareHandler<{ Variables: { participant: Participant; json: unknown; body: T } }> {
  return createMiddleware(async function readOptionalJson(c, next) {
    const bodiless = c.req.raw.body === null || c.req.header("content-length") === "0";
    c.set("json", bodiless ? {} : await parseBody(c));
    c.set("body", decode(schemaFor(c.get("participant")), c.get("json")));
    await next();
  });
}

async function parseBody(c: Context): Promise<unknown> {
  const text = utf8Text(await readJsonBytes(c));
  if (text === undefined) throw notJson("is not UTF-8");
  const parsed = strictJson(text);
  if (!parsed.ok) throw notJson(parsed.fault);
  return parsed.value;
}

function notJson(why: string): ApiError {
  return new ApiError("directory.invalid_request", { description: `body: ${why}` });
}
