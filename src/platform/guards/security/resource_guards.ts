/** The middleware of resource routes. The composition builds it once, and each route lists it in order. */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import type { BodyVariables } from "../../../base/http/body.ts";
import type { AccessEnv, AccessVariables, KeysOfToken, Requirement } from "./access_token.ts";
import type { BankVariables } from "./bank_path.ts";
import type { CertificateVariables } from "./client_certificate.ts";
import type { RejectInOutage } from "./current_controls.ts";
import type { RateLimit } from "./rate_limit.ts";
import { requireActiveBank, type StandingOf } from "./standing.ts";
import type { SignedBodyVariables } from "./payload_signature.ts";

/** In the order of their use. */
export interface ResourceGuards {
  readonly certificate: MiddlewareHandler<{ Variables: RequestVariables & CertificateVariables }>;
  /** Runs right after the certificate check, so a rejected request has cost little and its proof stays unused. */
  readonly limit: RateLimit["guard"];
  readonly bank: MiddlewareHandler<{ Variables: RequestVariables & BankVariables }>;
  readonly token: (requirement: Requirement, more?: KeysOfToken) => MiddlewareHandler<AccessEnv>;
  readonly payloadSignature: MiddlewareHandler<
    { Variables: BodyVariables & AccessVariables & SignedBodyVariables }
  >;
  /**
   * The bank must be active and have no outage. For endpoints that start something, behind the idempotency check, because a retry starts
   * nothing new.
   */
  readonly active: MiddlewareHandler<{ Variables: BankVariables }>;
}

/** Creates the check of {@link ResourceGuards.active}. */
export function activeBank(
  standingOf: StandingOf,
  rejectInOutage: RejectInOutage,
): ResourceGuards["active"] {
  return createMiddleware<{ Variables: BankVariables }>(async function activeBank(c, next) {
    await requireActiveBank(standingOf, c.get("bank"));
    await rejectInOutage(c.get("bank").code);
    await next();
  });
}
