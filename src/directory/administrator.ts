/** Guard: only the holder of the administration token goes on (RFC 6750 2.1). Says nothing about why it refuses. */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { sha256Bytes } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { DirectoryEnv } from "./request_context.ts";

/** Characters of an administration token, at least: it is the only thing between anybody and the trust root. */
export const MIN_ADMIN_TOKEN_CHARACTERS = 32;

/** The operator's own name, as the token's holder tells it: for the history, proves nothing. */
const OPERATOR_HEADER = "x-operator";
const OPERATOR = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;
const UNNAMED = "administrator";
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/** A guard for the routes of administrators. */
export function requireAdministrator(adminToken: string): MiddlewareHandler<DirectoryEnv> {
  const expected = digest(adminToken);
  return createMiddleware<DirectoryEnv>(async function administrator(c, next): Promise<void> {
    const token = BEARER.exec(c.req.header("authorization") ?? "")?.[1];
    if (token === undefined) throw new Refusal("directory.unauthorized", "no bearer token");
    if (!equalBytes(await digest(token), await expected)) {
      throw new Refusal("directory.unauthorized", "wrong token");
    }
    c.set("operator", operator(c.req.header(OPERATOR_HEADER)));
    await next();
  });
}

function operator(name: string | undefined): string {
  if (name === undefined) return UNNAMED;
  if (OPERATOR.test(name)) return name;
  throw new Refusal("directory.invalid_request", {
    description: "x-operator: must be 1 to 64 letters, digits or . _ @ + -",
  });
}

function digest(token: string): Promise<Uint8Array> {
  return sha256Bytes(new TextEncoder().encode(token));
}

// Digests have one length, and every octet is looked at: the time taken tells nothing about the token.
function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}
