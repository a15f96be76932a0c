/**
 * Guard: `x-idempotency-key`. After the signature, because a retry must itself be authentic; before schema and
 * status, because a retry of what succeeded must succeed (Decision C4; contract IK5).
 */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { parseStrictJson } from "../../base/http/strict_json.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { RequestVariables } from "../../base/http/context.ts";
import type { AccessVariables, KeysOfToken } from "../security/access_token.ts";
import type { BankVariables } from "../security/bank_path.ts";
import type { SignedBodyVariables } from "../security/payload_signature.ts";
import { claimKey } from "../store_keys.ts";
import { type Claim, type ClaimStore, isIdempotencyKey } from "./claim_store.ts";
import { fingerprint } from "./fingerprint.ts";

/** Set by {@link idempotent}. */
export interface ClaimVariables {
  claim: Claim;
  /** The body, parsed strictly; nothing is known of its fields yet. */
  json: unknown;
}

type Env = {
  Variables: RequestVariables & AccessVariables & BankVariables & SignedBodyVariables & ClaimVariables;
};

/** Answers a retry with the resource that the first request made. */
export type Replay = (c: Context<Env>, resourceId: string) => Promise<Response>;

/** The claim's key, to be read along with the token's owner: nothing where the header will be rejected. */
export function claimAhead(route: string): KeysOfToken {
  return (c, { clientId }) => {
    const key = c.req.header("x-idempotency-key");
    return key !== undefined && isIdempotencyKey(key)
      ? [claimKey(clientId, c.get("bank").code, route, key)]
      : [];
  };
}

/** Guard factory: `route` keeps the keys of different endpoints apart (contract IK3). @throws {ApiError} `request.header_*` */
export function idempotent(claims: ClaimStore): (route: string, replay: Replay) => MiddlewareHandler<Env> {
  return (route, replay) =>
    createMiddleware<Env>(async function once(c, next) {
      const key = readKey(c.req.header("x-idempotency-key"));
      const json = parseStrictJson(c.get("signedBody").bytes);
      const owner = c.get("access").caller.clientId;
      const where = claimKey(owner, c.get("bank").code, route, key);
      const found = await claims.claimFor(where, await fingerprint(json), c.get("reads"));
      if ("resourceId" in found) return await replay(c, found.resourceId);
      c.set("claim", found.claim);
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
