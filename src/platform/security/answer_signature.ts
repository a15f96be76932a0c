/**
 * Signs every JSON response of a resource endpoint, including errors, in the profile of the request's own signature
 * (contract SG6), so that a client can prove what it received.
 */
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../base/http/context.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { unixSeconds } from "../../base/kernel/clock.ts";
import { readDetachedJws, type SignatureProfile, signDetached } from "../../base/jose/detached_jws.ts";
import type { NamedKey } from "../../base/jose/sealed_jwt.ts";
import type { SignedBodyVariables } from "./payload_signature.ts";

export interface AnswerSignatureDeps {
  readonly clock: Clock;
  readonly signer: NamedKey;
  /** The `iss` claim: the platform's authorization host. */
  readonly issuer: string;
  readonly trustAnchor: string;
}

interface Env {
  Variables: RequestVariables & Partial<SignedBodyVariables>;
}

/** Middleware around the resource routes. */
export function answerSignature(deps: AnswerSignatureDeps): ReturnType<typeof createMiddleware<Env>> {
  return createMiddleware<Env>(async function sign(c, next) {
    await next();
    if (
      c.get("surface") !== "resource" ||
      c.res.headers.get("content-type")?.startsWith("application/json") !== true
    ) return;
    const body = new Uint8Array(await c.res.arrayBuffer());
    const signature = await signDetached(body, deps.signer, {
      profile: c.get("signedBody")?.profile ?? profileOf(c.req.header("x-jws-signature")),
      iat: unixSeconds(deps.clock()),
      issuer: deps.issuer,
      trustAnchor: deps.trustAnchor,
    });
    const { status, headers } = c.res;
    headers.set("x-jws-signature", signature);
    c.res = undefined; // replaces the response instead of merging with it
    c.res = new Response(body, { status, headers });
  });
}

/** Returns the profile of the caller's signature, whether or not it is valid, and A if it has none. */
function profileOf(sent: string | undefined): SignatureProfile {
  const signature = readDetachedJws(sent ?? "");
  return signature.ok ? signature.value.profile : "A";
}
