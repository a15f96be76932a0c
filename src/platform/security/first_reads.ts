/**
 * Guard that rejects nothing: asks in one round trip for everything that the request line and its headers name: the
 * bank, the access token, and what the endpoint adds. The guards behind it find their entries read, or being read.
 */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../base/http/context.ts";
import { asBankCode, sha256 } from "../../base/kernel/identifiers.ts";
import { accessTokenKey, bankKey, orderHoldKey } from "../store_keys.ts";
import type { Key } from "../../base/store/store.ts";

/** A token as presented, and its hash: the name it is stored under, and a proof's `ath` (RFC 9449 §4.2). */
export interface PresentedToken {
  readonly text: string;
  readonly hash: string;
}

/** Set by {@link firstReads}. */
export interface PresentedTokenVariables {
  /** Absent where the request carries nothing of a token's form. */
  presented?: PresentedToken;
}

type Env = { Variables: RequestVariables & PresentedTokenVariables };

/** What an endpoint adds: keys of the resource that its path names. */
export type KeysOfRequest = (c: Context) => readonly Key[];

/** A longer text is no token of ours: it is not looked up before its turn comes. */
const MAX_CHARACTERS = 512;
const CREDENTIALS = /^DPoP +(\S+)$/i; // RFC 9449 §7.1: the scheme in any case

/** The token of an `Authorization` header; undefined where it is none of the DPoP scheme. */
export function dpopCredentials(authorization: string | undefined): string | undefined {
  return CREDENTIALS.exec(authorization?.trim() ?? "")?.[1];
}

/** Guard factory. */
export function firstReads(more: KeysOfRequest = () => []): ReturnType<typeof createMiddleware<Env>> {
  return createMiddleware<Env>(async function read(c, next) {
    const code = asBankCode(c.req.param("bank"));
    const text = dpopCredentials(c.req.header("authorization"));
    const looksOurs = text !== undefined && text.length <= MAX_CHARACTERS;
    const presented = looksOurs ? { text, hash: await sha256(text) } : undefined;
    if (presented !== undefined) c.set("presented", presented);
    c.get("reads").ahead([
      ...(code === undefined ? [] : [bankKey(code), orderHoldKey(code)]),
      ...(presented === undefined ? [] : [accessTokenKey(presented.hash)]),
      ...more(c),
    ]);
    await next();
  });
}
