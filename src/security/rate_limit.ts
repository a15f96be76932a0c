/**
 * Guard: how fast one participant may call a group of endpoints. It comes right after the certificate, so what it
 * refuses has cost no signature check and has used up neither a proof nor an idempotency key.
 */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { Refusal } from "../kernel/refusal.ts";
import type { CertificateVariables } from "./client_certificate.ts";
import type { RateGroup, RatePolicies } from "../rate_policies.ts";
import type { BucketStore } from "./rate_limit_store.ts";

/** Limits calls. */
export interface RateLimit {
  /** Guard factory, by certificate. @throws {Refusal} `request.rate_limited` with `Retry-After` */
  guard(group: RateGroup): MiddlewareHandler<{ Variables: CertificateVariables }>;
  /** Takes one token of a subject's own bucket. @throws {Refusal} `request.rate_limited` */
  take(group: RateGroup, subject: string): Promise<void>;
}

/** Opens the limits. */
export function openRateLimit(
  deps: { readonly buckets: BucketStore; readonly policies: RatePolicies },
): RateLimit {
  async function take(group: RateGroup, subject: string): Promise<void> {
    const retryAfterSeconds = await deps.buckets.take([group, subject], deps.policies[group]);
    if (retryAfterSeconds > 0) {
      throw new Refusal("request.rate_limited", { detail: group, retryAfterSeconds });
    }
  }
  return {
    take,
    guard: (group) =>
      createMiddleware<{ Variables: CertificateVariables }>(async function limited(c, next) {
        await take(group, c.get("certificate").spkiThumbprint);
        await next();
      }),
  };
}
