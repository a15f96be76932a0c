/** Check: decodes the strictly parsed body. */
import type { MiddlewareHandler } from "hono";

/**
 * @param decode throws {ApiError} naming every faulty place
 */
export function decoded<T>(
  decode: (json: unknown) => T,
): MiddlewareHandler<{ Variables: { json: unknown; request: T } }> {
  return async function decodeBody(c, next) {
    c.set("request", decode(c.get("json")));
    await next();
  };
}
