/**
 * Middleware: authenticates the platform's operator by a configured bearer token (RFC 6750 §2.1). Operators are not
 * participants and need no client certificate. The response does not contain the reason of a rejection.
 */
import { createMiddleware } from "hono/factory";
import { timingSafeEqual } from "hono/utils/buffer";
import type { RequestVariables } from "../../base/http/context.ts";
import { ApiError } from "../../base/kernel/api_error.ts";

/** Set by {@link operatorToken}. */
export interface OperatorVariables {
  /** `operator`, or `operator <name>` if the caller sent a name. It is recorded in the history and is not proven. */
  operator: string;
}

const OPERATOR_HEADER = "x-operator";
const OPERATOR = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;
// Decision F8: not hono/bearer-auth.
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Creates the middleware.
 *
 * @throws {ApiError} `operations.unauthorized`, `operations.invalid_request`
 */
export function operatorToken(
  token: string,
): ReturnType<typeof createMiddleware<{ Variables: RequestVariables & OperatorVariables }>> {
  return createMiddleware<{ Variables: RequestVariables & OperatorVariables }>(
    async function operatorToken(c, next) {
      const sent = BEARER.exec(c.req.header("authorization") ?? "")?.[1];
      if (sent === undefined || !await timingSafeEqual(sent, token)) {
        throw new ApiError("operations.unauthorized", sent === undefined ? "no bearer token" : "wrong token");
      }
      const name = c.req.header(OPERATOR_HEADER);
      if (name !== undefined && !OPERATOR.test(name)) {
        throw new ApiError("operations.invalid_request", {
          description: "x-operator must be 1 to 64 letters, digits or . _ @ + -",
        });
      }
      c.set("operator", name === undefined ? "operator" : `operator ${name}`);
      await next();
    },
  );
}
