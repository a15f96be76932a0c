/**
 * Signs every JSON answer of a resource endpoint, errors too, in the profile of the request's own signature
 * (contract SG6), so that a client can prove what it was told.
 */
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../base/http/context.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { unixSeconds } from "../../base/kernel/clock.ts";
import {
  isSignatureFault,
  readDetachedJws,
  type SignatureProfile,
  signDetached,
} from "../../base/jose/detached_jws.ts";
import type { NamedKey } from "../../base/jose/sealed_jwt.ts";
import type { SignedBodyVariables } from "./payload_signature.ts";

/** What signing needs. */
export interface AnswerSignatureDeps {
  readonly clock: Clock;
  readonly signer: NamedKey;
  /** The platform's name in the `iss` claim: its authorization host. */
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
    c.res = undefined; // in its place, not merged with it
    c.res = new Response(body, { status, headers });
  });
}

/** The profile that the caller writes, and so reads, whether or not its signature is good; A where it shows none. */
function profileOf(sent: string | undefined): SignatureProfile {
  const signature = readDetachedJws(sent ?? "");
  return isSignatureFault(signature) ? "A" : signature.profile;
}
