/** Polls of a TPP for its events, and the tokens that they return. */
import { compactVerify, importJWK } from "jose";
import type { BoundToken, CallOptions, FlowEnvironment } from "testing/flows.ts";
import { call, clientToken, good, type Json } from "testing/flows.ts";
import { AUTH_URL } from "testing/environment.ts";
import type { Participant } from "testing/participants.ts";

export const EVENTS = "/BANKA/events/v1";

export interface PollOptions extends Omit<CallOptions, "body"> {
  /** By default the TPP. */
  readonly by?: Participant;
  readonly bank?: string;
  readonly bound?: BoundToken;
}

/** The raw answer to a poll, which is not signed and has no idempotency key. */
export async function poll(
  env: FlowEnvironment,
  body: Json = { returnImmediately: true },
  { by, bank = "BANKA", bound, ...options }: PollOptions = {},
): Promise<Response> {
  const caller = by ?? env.tpp;
  const token = bound ?? await clientToken(env, caller, bank);
  return await call(env, caller, token, `/${bank}/events/v1`, {
    body: typeof body === "string" ? body : JSON.stringify(body),
    signature: null,
    idempotencyKey: null,
    ...options,
  });
}

/** A polled event: its `jti`, header and claims, whose signature is verified with the platform's published key. */
export interface Polled {
  readonly jti: string;
  readonly header: Json;
  readonly claims: Json;
  /** Type and status, such as `consent-consumed Consumed`. */
  readonly what: string;
  /** `rid`. */
  readonly resource: string;
}

/** The events of a poll, in order, and whether there is more. */
export async function polled(
  env: FlowEnvironment,
  body: Json = { returnImmediately: true },
  options: PollOptions = {},
): Promise<{ events: readonly Polled[]; moreAvailable: boolean }> {
  const { sets, moreAvailable } = await good(poll(env, body, options), 200);
  const events = await Promise.all(
    Object.entries<string>(sets).map(([jti, token]) => verified(env, jti, token)),
  );
  return { events, moreAvailable };
}

/** The events that wait, acknowledged afterwards if `ack` is set. */
export async function waiting(env: FlowEnvironment, options: PollOptions = {}): Promise<readonly Polled[]> {
  return (await polled(env, { returnImmediately: true }, options)).events;
}

/** Verifies a token with the platform's published keys. */
export async function verified(env: FlowEnvironment, jti: string, token: string): Promise<Polled> {
  const { keys } = await good(env.browser(new Request(`${AUTH_URL}/jwks`)), 200);
  const { payload, protectedHeader: header } = await compactVerify(token, async ({ kid }) => {
    const jwk = keys.find((key: Json) => key.kid === kid);
    return await importJWK(jwk, "PS256");
  }, { algorithms: ["PS256"] });
  const claims = JSON.parse(new TextDecoder().decode(payload));
  const own = Object.keys(claims.events).find((id) => id.startsWith(`${AUTH_URL}/events/`)) ?? "";
  const what = `${own.split("/").at(-1)} ${claims.events[own]?.status}`;
  const { subject } = claims.events["urn:uk:org:openbanking:events:resource-update"];
  return { jti, header, claims, what, resource: subject["http://openbanking.org.uk/rid"] };
}
