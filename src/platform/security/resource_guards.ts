/** The guards of resource routes, built once by the composition and listed, in order, in each route. */
import type { MiddlewareHandler } from "hono";
import type { RequestVariables } from "../../base/http/context.ts";
import type { BodyVariables } from "../../base/http/body.ts";
import type { AccessEnv, AccessVariables, KeysOfToken, Requirement } from "./access_token.ts";
import type { BankVariables } from "./bank_path.ts";
import type { Bank } from "./caller.ts";
import type { CertificateVariables } from "./client_certificate.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { SignedBodyVariables } from "./payload_signature.ts";

/** Certificate -> (reads) -> bank -> token with DPoP -> (body) -> payload signature. */
export interface ResourceGuards {
  readonly certificate: MiddlewareHandler<{ Variables: CertificateVariables }>;
  /** Right after the certificate: what it rejects has cost nothing and used nothing up. */
  readonly limit: RateLimit["guard"];
  readonly bank: MiddlewareHandler<{ Variables: RequestVariables & BankVariables }>;
  readonly token: (requirement: Requirement, more?: KeysOfToken) => MiddlewareHandler<AccessEnv>;
  readonly payloadSignature: MiddlewareHandler<
    { Variables: BodyVariables & AccessVariables & SignedBodyVariables }
  >;
  /** First of all in endpoints that start something; behind the retry guard, since a retry starts nothing. */
  readonly requireActive: (bank: Bank) => Promise<void>;
}
