/** Polls of a TPP for its events, and the tokens that they return. */
import { type CompactJWSHeaderParameters, compactVerify, importJWK, type JWTPayload } from "jose";
import type { AnswerOf, EventPage, PlatformKeys } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  type CallOptions,
  clientToken,
  type FlowEnvironment,
  good,
} from "testing/flows.ts";
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
  body: unknown = { returnImmediately: true },
  { by, bank = "BANKA", bound, ...options }: PollOptions = {},
): Promise<AnswerOf<EventPage>> {
  const caller = by ?? env.tpp;
  const token = bound ?? await clientToken(env, caller, bank);
  return await call(env, caller, token, `/${bank}/events/v1`, {
    body: typeof body === "string" ? body : JSON.stringify(body),
    signature: null,
    idempotencyKey: null,
    ...options,
  });
}

/** The claims of a security event token (RFC 8417). */
export interface EventClaims extends JWTPayload {
  readonly txn: string;
  readonly toe: number;
  readonly events: Readonly<Record<string, EventDetails>>;
}

/** One event in a token; its own members depend on its type. */
export interface EventDetails {
  readonly status?: string;
  readonly reason_code?: string;
  readonly reason?: string;
  readonly use?: string;
  readonly within_days?: number;
  readonly text?: string;
  readonly consent_id?: string;
  readonly subject?: Readonly<Record<string, string>>;
}

/** A polled event: its `jti`, header and claims, whose signature is verified with the platform's published key. */
export interface Polled {
  readonly jti: string;
  readonly header: CompactJWSHeaderParameters;
  readonly claims: EventClaims;
  /** Type and status, such as `consent-consumed Consumed`. */
  readonly what: string;
  /** `rid`. */
  readonly resource: string;
}

/** The events of a poll, in order, and whether there is more. */
export async function polled(
  env: FlowEnvironment,
  body: unknown = { returnImmediately: true },
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
  const { keys } = await good<PlatformKeys>(env.browser(new Request(`${AUTH_URL}/jwks`)), 200);
  const { payload, protectedHeader: header } = await compactVerify(token, async ({ kid }) => {
    const jwk = keys.find((key) => key.kid === kid);
    if (jwk === undefined) throw new Error(`no published key ${kid}`);
    return await importJWK(jwk, "PS256");
  }, { algorithms: ["PS256"] });
  const claims = JSON.parse(new TextDecoder().decode(payload)) as EventClaims;
  const own = Object.keys(claims.events).find((id) => id.startsWith(`${AUTH_URL}/events/`)) ?? "";
  const what = `${own.split("/").at(-1)} ${claims.events[own]?.status}`;
  const subject = claims.events["urn:uk:org:openbanking:events:resource-update"]?.subject;
  return { jti, header, claims, what, resource: subject?.["http://openbanking.org.uk/rid"] ?? "" };
}
