/**
 * Signs every JSON response of a resource endpoint, including errors, in the profile of the request's own signature
 * (contract SG6), so that a client can prove what it received. The same answer gets the same signature for a minute,
 * because a signature costs more than the rest of a read: a resource that is read soon after it was created, or again.
 */
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import type { Clock, MonotonicClock } from "../../../base/kernel/clock.ts";
import { unixSeconds } from "../../../base/kernel/clock.ts";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import { readDetachedJws, type SignatureProfile, signDetached } from "../../../base/jose/detached_jws.ts";
import type { OwnKey } from "../../../base/jose/own_key.ts";
import { digest } from "../../evidence/digest.ts";
import type { SignedBodyVariables } from "./payload_signature.ts";

export interface AnswerSignatureDeps {
  readonly clock: Clock;
  /** Milliseconds that never go back. */
  readonly monotonic: MonotonicClock;
  readonly signer: OwnKey;
  /** The `iss` claim: the platform's authorization host. */
  readonly issuer: string;
  readonly trustAnchor: string;
}

interface Env {
  Variables: RequestVariables & Partial<SignedBodyVariables>;
}

/** How long a signature is reused. OBIE has no limit for the age of `iat`; the platform accepts an hour (contract SG4). */
const REUSED_MS = 60_000;
const MAX_REUSED = 2000;

interface Signed {
  readonly signature: Promise<string>;
  readonly until: number;
}

/** Middleware around the resource routes. */
export function answerSignature(deps: AnswerSignatureDeps): ReturnType<typeof createMiddleware<Env>> {
  const signOnce = openSignatures(deps);
  return createMiddleware<Env>(async function signAnswer(c, next) {
    await next();
    if (
      c.get("surface") !== "resource" ||
      c.res.headers.get("content-type")?.startsWith("application/json") !== true
    ) return;
    const body = new Uint8Array(await c.res.arrayBuffer());
    const profile = c.get("signedBody")?.profile ?? profileOf(c.req.header("x-jws-signature"));
    const signature = await signOnce(body, profile);
    const { status, headers } = c.res;
    headers.set("x-jws-signature", signature);
    c.res = undefined; // replaces the response instead of merging with it
    c.res = new Response(body, { status, headers });
  });
}

type SignOnce = (body: Uint8Array<ArrayBuffer>, profile: SignatureProfile) => Promise<string>;

/** Signs each body once a minute, with each key and in each profile. A signature is about the body, and not its path. */
function openSignatures(deps: AnswerSignatureDeps): SignOnce {
  const known = openRecentlyUsed<Signed>(MAX_REUSED);
  return async (body, profile) => {
    const name = digest(`${profile} ${deps.signer.kid} `, body);
    const before = known.get(name);
    if (before !== undefined && deps.monotonic() < before.until) return await before.signature;
    const signature = sign(deps, body, profile);
    known.set(name, { signature, until: deps.monotonic() + REUSED_MS });
    signature.catch(() => known.delete(name));
    return await signature;
  };
}

function sign(
  { clock, signer, issuer, trustAnchor }: AnswerSignatureDeps,
  body: Uint8Array<ArrayBuffer>,
  profile: SignatureProfile,
): Promise<string> {
  return signDetached(body, signer, { profile, iat: unixSeconds(clock()), issuer, trustAnchor });
}

/** Returns the profile of the caller's signature, whether or not it is valid, and A if it has none. */
function profileOf(sent: string | undefined): SignatureProfile {
  const signature = readDetachedJws(sent ?? "");
  return signature.ok ? signature.value.profile : "A";
}
