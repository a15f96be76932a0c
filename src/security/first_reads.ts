/**
 * Guard that refuses nothing: asks in one round trip for everything that the request line and its headers name: the
 * bank, the access token, and what the endpoint adds. The guards behind it find their entries read, or being read.
 */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../http/context.ts";
import { asBankCode, sha256 } from "../kernel/identifiers.ts";
import { accessTokenKey, bankKey } from "../store/keys.ts";
import type { Key } from "../store/store.ts";

/** A token as presented, and its hash: the name it is stored under, and a proof's `ath` (RFC 9449 4.2). */
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

const CREDENTIALS = /^DPoP +(\S{1,512})$/i;

/** Guard factory. */
export function firstReads(more: KeysOfRequest = () => []): ReturnType<typeof createMiddleware<Env>> {
  return createMiddleware<Env>(async function read(c, next) {
    const code = asBankCode(c.req.param("bank"));
    const text = CREDENTIALS.exec(c.req.header("authorization") ?? "")?.[1];
    const presented = text === undefined ? undefined : { text, hash: await sha256(text) };
    if (presented !== undefined) c.set("presented", presented);
    c.get("reads").ahead([
      ...(code === undefined ? [] : [bankKey(code)]),
      ...(presented === undefined ? [] : [accessTokenKey(presented.hash)]),
      ...more(c),
    ]);
    await next();
  });
}
