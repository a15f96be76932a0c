/** Steps of a bank that delivers its result on the back channel, and of the browser that waits for it. */
import { signedReturn } from "testing/bank_return.ts";
import type { AtBank } from "testing/authorization_flow.ts";
import { type BoundToken, call, type CallOptions } from "testing/flows.ts";
import { type JsonObject, sealToPlatform } from "testing/jwts.ts";
import type { Participant } from "testing/participants.ts";
import type { Environment } from "testing/environment.ts";
import { sharedToken } from "testing/shared_token.ts";

/** The page on which the flow's browser waits. */
export function waitingPath({ bank, handover }: AtBank): string {
  return `/${bank.orgId}/authorization.waiting.oauth2?flow=${handover.correlation_id}`;
}

/** The bank delivers a valid result, or one with changed claims. */
export async function deliver(env: Environment, flow: AtBank, claims: JsonObject = {}): Promise<Response> {
  return await deliverJws(env, flow.bank, await signedReturn(env, flow, { claims }));
}

/** Delivers this inner layer, encrypted to the platform, or these bytes. */
export async function deliverJws(
  env: Environment,
  as: Participant,
  jws: string,
  { bank = as.orgId, bound, sealed, headers = {} }: {
    readonly bank?: string;
    readonly bound?: BoundToken;
    readonly sealed?: string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  const options: CallOptions = {
    body: sealed ?? await sealToPlatform(env, jws),
    signature: null,
    idempotencyKey: null,
    headers: { "content-type": "application/jose", ...headers },
  };
  const token = bound ?? await sharedToken(env, as, bank);
  return await call(env, as, token, `/${bank}/authorization-results/v1`, options);
}
