/**
 * Middleware: limits the rate at which a participant may call a group of endpoints. Right after the certificate check
 * it counts by the certificate's key, in this process, so that a flood costs neither a signature check nor a commit.
 * Once the caller is authenticated, the call also counts for the participant, in the store, so that additional keys
 * or processes do not allow additional calls. A rate-limited request does not consume its proof or idempotency key.
 */
import type { HonoRequest, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { CertificateVariables, ClientCertificate } from "./client_certificate.ts";
import type { RateGroup, RatePolicies } from "../../config/rate_policies.ts";
import type { BucketStore } from "./rate_limit_store.ts";

/**
 * Counts the call for the authenticated participant.
 *
 * @throws {ApiError} `request.rate_limited`
 */
export type LimitParticipant = (
  participant: { readonly orgId: string; readonly clientId: string },
) => Promise<void>;

/** Set by {@link RateLimit.guard}. */
export interface LimitVariables {
  limitParticipant: LimitParticipant;
}

export interface RateLimit {
  /**
   * Creates the middleware, which counts by certificate.
   *
   * @param group of the endpoint, or of the request if the endpoint has several uses
   * @throws {ApiError} `request.rate_limited` with `Retry-After`
   */
  guard(
    group: RateGroup | ((request: HonoRequest) => RateGroup),
  ): MiddlewareHandler<{ Variables: RequestVariables & CertificateVariables & LimitVariables }>;
  /**
   * Takes one token from a subject's bucket.
   *
   * @throws {ApiError} `request.rate_limited`
   */
  take(group: RateGroup, subject: string): Promise<void>;
}

export function openRateLimit(
  deps: {
    /** Shared by all processes. */
    readonly buckets: BucketStore;
    /** Of this process. */
    readonly localBuckets: BucketStore;
    readonly policies: RatePolicies;
    /** Called when the owner of the certificate is proven. */
    readonly onProven: (certificate: ClientCertificate, participant: Parameters<LimitParticipant>[0]) => void;
  },
): RateLimit {
  async function takeFrom(buckets: BucketStore, group: RateGroup, subject: string): Promise<void> {
    const retryAfterSeconds = await buckets.take([group, subject], deps.policies[group]);
    if (retryAfterSeconds > 0) {
      throw new ApiError("request.rate_limited", { detail: group, retryAfterSeconds });
    }
  }
  const take: RateLimit["take"] = (group, subject) => takeFrom(deps.buckets, group, subject);
  return {
    take,
    guard: (groupOf) =>
      createMiddleware<{ Variables: RequestVariables & CertificateVariables & LimitVariables }>(
        async function rateLimit(c, next) {
          const certificate = c.get("certificate");
          const group = typeof groupOf === "function" ? groupOf(c.req) : groupOf;
          await takeFrom(deps.localBuckets, group, certificate.spkiThumbprint);
          c.set("limitParticipant", async ({ orgId, clientId }) => {
            deps.onProven(certificate, { orgId, clientId });
            Object.assign(c.get("facts"), { orgId, clientId });
            await take(group, `participant ${orgId}`);
          });
          await next();
        },
      ),
  };
}
