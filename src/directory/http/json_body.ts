/** Checks of the directory's request bodies: one bounded JSON value without ambiguities between parsers. */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { readJsonBytes } from "../../base/http/body.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { strictJson, utf8Text } from "../../base/kernel/json.ts";

/** Set by {@link jsonValue} and {@link optionalJsonValue}. */
interface JsonVariables {
  json: unknown;
}

/**
 * Check: parses the body.
 *
 * @throws {ApiError} wrong media type or coding, too large, not UTF-8, or not strict JSON
 */
export const jsonValue = createMiddleware<{ Variables: JsonVariables }>(async function readJson(c, next) {
  c.set("json", await parseBody(c));
  await next();
});

/** As {@link jsonValue}, but an absent body stands for `{}`. */
export const optionalJsonValue = createMiddleware<{ Variables: JsonVariables }>(
  async function readOptionalJson(c, next) {
    const bodiless = c.req.raw.body === null || c.req.header("content-length") === "0";
    c.set("json", bodiless ? {} : await parseBody(c));
    await next();
  },
);

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
