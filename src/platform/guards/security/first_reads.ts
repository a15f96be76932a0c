/**
 * Middleware that starts the reads named by the path and headers, in one round trip: the bank, the access token, and
 * the endpoint's own keys. It never rejects a request.
 */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import { asBankCode, sha256 } from "../../../base/kernel/identifiers.ts";
import { accessTokenKey, bankKey, orderHoldKey } from "../../config/store_keys.ts";
import type { Key } from "../../../base/store/store.ts";

/** A token as sent, and its hash, which is its store key and a proof's `ath` (RFC 9449 §4.2). */
export interface PresentedToken {
  readonly text: string;
  readonly hash: string;
}

/** Set by {@link firstReads}. */
export interface PresentedTokenVariables {
  /** Absent if the request has no credentials in the form of a token. */
  presented?: PresentedToken;
}

type Env = { Variables: RequestVariables & PresentedTokenVariables };

/** Returns further keys of an endpoint: those of the resource that its path names. */
export type KeysOfRequest = (c: Context) => readonly Key[];

/** A longer text is not a token of this platform, so it is not prefetched. */
const MAX_CHARACTERS = 512;
const CREDENTIALS = /^DPoP +(\S+)$/i; // RFC 9449 §7.1: the scheme in any case

/** Returns the token of an `Authorization` header, or undefined if its scheme is not DPoP. */
export function dpopCredentials(authorization: string | undefined): string | undefined {
  return CREDENTIALS.exec(authorization?.trim() ?? "")?.[1];
}

export function firstReads(more: KeysOfRequest = () => []): ReturnType<typeof createMiddleware<Env>> {
  return createMiddleware<Env>(async function prefetch(c, next) {
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
