/** Check of the operations API: decodes a JSON body by its schema. */
import { z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { readJsonBytes } from "../../../base/http/body.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { strictJson, utf8Text } from "../../../base/kernel/json.ts";

/** A text of an operator without control characters. The bounds are UTF-16 code units. */
export function plainText(least: number, most: number): z.ZodString {
  return z.string().min(least).max(most).refine((text) => !/\p{Cc}/u.test(text));
}

/**
 * Creates the check. It sets `command` to the decoded body.
 *
 * @throws {ApiError} `operations.invalid_request` naming the faulty members, or as `readJsonBytes`
 */
export function operationBody<T>(
  schema: z.ZodType<T>,
): ReturnType<typeof createMiddleware<{ Variables: { command: T } }>> {
  return createMiddleware<{ Variables: { command: T } }>(async function operationBody(c, next) {
    const text = utf8Text(await readJsonBytes(c));
    const json = text === undefined ? undefined : strictJson(text);
    if (json?.ok !== true) throw invalidRequest("The body must be one JSON object in UTF-8.");
    const parsed = schema.safeParse(json.value);
    if (!parsed.success) {
      const faulty = [...new Set(parsed.error.issues.map(({ path }) => path.join(".") || "body"))];
      throw invalidRequest(`Missing, unknown or not acceptable: ${printableText(faulty.join(", "))}.`);
    }
    c.set("command", parsed.data);
    await next();
  });
}

/** Without the characters that `error_description` must not contain (RFC 6749 §5.2), and bounded. */
function printableText(text: string): string {
  return text.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?").slice(0, 300);
}

/** A request of the operations API that is rejected with these words. */
export function invalidRequest(description: string): ApiError {
  return new ApiError("operations.invalid_request", { description });
}
