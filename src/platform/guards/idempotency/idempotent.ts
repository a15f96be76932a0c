/**
 * Middleware for `x-idempotency-key`. It runs after the signature check, because a retry must itself be authentic,
 * and before schema and status checks, because a retry of a successful request must succeed (Decision C4; contract
 * IK5).
 */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { parseStrictJson } from "../../../base/http/body.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { RequestVariables } from "../../../base/http/context.ts";
import type { AccessVariables, KeysOfToken } from "../security/access_token.ts";
import type { BankVariables } from "../security/standing.ts";
import type { SignedBodyVariables } from "../security/payload_signature.ts";
import { claimKey } from "../../config/store_keys.ts";
import { type Claim, type ClaimStore, fingerprint, isIdempotencyKey } from "./claim_store.ts";

/** Set by {@link idempotent}. */
export interface ClaimVariables {
  claim: Claim;
  /** The strictly parsed body. Its fields are not checked yet. */
  json: unknown;
}

type Env = {
  Variables: RequestVariables & AccessVariables & BankVariables & SignedBodyVariables & ClaimVariables;
};

/** Responds to a retry with the resource that the first request created. */
export type Replay = (c: Context<Env>, resourceId: string) => Promise<Response>;

/**
 * Returns the claim's key, which is prefetched together with the token's owner, or no key if the header will be
 * rejected.
 */
export function claimAhead(route: string): KeysOfToken {
  return (c, { clientId }) => {
    const key = c.req.header("x-idempotency-key");
    return key !== undefined && isIdempotencyKey(key)
      ? [claimKey(clientId, c.get("bank").code, route, key)]
      : [];
  };
}

/**
 * Creates the middleware. `route` separates the keys of different endpoints (contract IK3).
 *
 * @throws {ApiError} `request.header_*`
 */
export function idempotent(claims: ClaimStore): (route: string, replay: Replay) => MiddlewareHandler<Env> {
  return (route, replay) =>
    createMiddleware<Env>(async function idempotency(c, next) {
      const key = readKey(c.req.header("x-idempotency-key"));
      const json = parseStrictJson(c.get("signedBody").bytes);
      const owner = c.get("access").caller.clientId;
      const claim = {
        key: claimKey(owner, c.get("bank").code, route, key),
        fingerprint: await fingerprint(json),
      };
      const found = await claims.claimFor(c.get("reads"), claim);
      if ("resourceId" in found) return await replay(c, found.resourceId);
      c.set("claim", claim);
      c.set("json", json);
      await next();
    });
}

function readKey(header: string | undefined): string {
  if (header === undefined) throw headerFault("request.header_missing", "Header.Missing", "is required.");
  if (!isIdempotencyKey(header)) {
    throw headerFault("request.header_invalid", "Header.Invalid", "must be 1 to 40 visible characters.");
  }
  return header;
}

function headerFault(
  reason: "request.header_missing" | "request.header_invalid",
  code: "Header.Missing" | "Header.Invalid",
  what: string,
): ApiError {
  return new ApiError(reason, {
    faults: [{ code, path: "x-idempotency-key", message: `x-idempotency-key ${what}` }],
  });
}
