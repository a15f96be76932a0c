/**
 * The middleware of resource routes, which the composition builds once and each route lists in order, and what it asks
 * of a bank.
 */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import type { BodyVariables } from "../../../base/http/body.ts";
import type { AccessEnv, AccessVariables, KeysOfToken, Requirement } from "./access_token.ts";
import type { CertificateVariables } from "./client_certificate.ts";
import type { RejectInOutage } from "./controls_store.ts";
import type { RateLimit } from "./rate_limits.ts";
import type { SignedBodyVariables } from "./payload_signature.ts";
import { type BankVariables, requireActiveBank, type StandingOf } from "./standing.ts";

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
export function activeBank(standingOf: StandingOf, rejectInOutage: RejectInOutage): ResourceGuards["active"] {
  return createMiddleware<{ Variables: BankVariables }>(async function activeBank(c, next) {
    await requireActiveBank(standingOf, c.get("bank"));
    await rejectInOutage(c.get("bank").code);
    await next();
  });
}
