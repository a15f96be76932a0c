/** Check: decodes the strictly parsed body. */
import type { MiddlewareHandler } from "hono";

/**
 * @param decoder throws {ApiError} naming every faulty place
 */
export function decoded<T>(
  decoder: (json: unknown) => T,
): MiddlewareHandler<{ Variables: { json: unknown; request: T } }> {
  return async function decode(c, next) {
    c.set("request", decoder(c.get("json")));
    await next();
  };
}
