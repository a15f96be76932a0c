/** The middleware of resource routes. The composition builds it once, and each route lists it in order. */
import type { MiddlewareHandler } from "hono";
import type { RequestVariables } from "../../base/http/context.ts";
import type { BodyVariables } from "../../base/http/body.ts";
import type { AccessEnv, AccessVariables, KeysOfToken, Requirement } from "./access_token.ts";
import type { BankVariables } from "./bank_path.ts";
import type { Bank } from "./caller.ts";
import type { CertificateVariables } from "./client_certificate.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { SignedBodyVariables } from "./payload_signature.ts";

/** Order: certificate, rate limit, (reads), bank, token with DPoP, (body), payload signature. */
export interface ResourceGuards {
  readonly certificate: MiddlewareHandler<{ Variables: CertificateVariables }>;
  /** Runs right after the certificate check, so a rejected request has cost little and its proof stays unused. */
  readonly limit: RateLimit["guard"];
  readonly bank: MiddlewareHandler<{ Variables: RequestVariables & BankVariables }>;
  readonly token: (requirement: Requirement, more?: KeysOfToken) => MiddlewareHandler<AccessEnv>;
  readonly payloadSignature: MiddlewareHandler<
    { Variables: BodyVariables & AccessVariables & SignedBodyVariables }
  >;
  /**
   * Called first in the handler of endpoints that start something, after the idempotency check, because a retry
   * starts nothing new.
   */
  readonly requireActive: (bank: Bank) => Promise<void>;
}
