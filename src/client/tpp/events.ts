/**
 * The TPP's events at a bank (contract EVT1 to EVT11): polls for them and acknowledges them, or subscribes to pushes of
 * them. Tokens are verified before their content is returned.
 */
import { jwtVerify } from "jose";
import * as z from "zod/mini";
import { UntrustedMessage } from "../party/errors.ts";
import { ApiErrorResponse } from "../party/api_error.ts";
import { SIGNATURE_ALG } from "../party/profile.ts";
import type { AccessToken } from "./authorization.ts";
import type { PaymentFlow } from "./payment_journey.ts";
import { postSigned, postUnsigned } from "./resource_request.ts";

/** A change of a consent or a payment, or a notice, such as of an outage. */
export interface TppEvent {
  /** Names the event. Store it with the event: the same one may come again. */
  readonly jti: string;
  /** Such as `payment-status-changed`. */
  readonly type: string;
  /** The id of the consent or the payment. A notice has one of its own. */
  readonly resource: string;
  /** The id of the consent, also if the event is of its payment. Of a notice the same as `resource`. */
  readonly consentId: string;
  readonly status: string;
  /** When the status began, seconds since the Unix epoch. */
  readonly at: number;
  /** The bank's reason for the rejection of a payment. */
  readonly reason?: string;
}

/** Options of a poll. */
export interface EventPoll {
  /** The `jti` of the events that are stored. */
  readonly ack?: readonly string[];
  readonly maxEvents?: number;
  /** Without it the response waits up to 15 s for an event. */
  readonly returnImmediately?: boolean;
}

const RESOURCE_UPDATE = "urn:uk:org:openbanking:events:resource-update";
const answer = z.object({ moreAvailable: z.boolean(), sets: z.record(z.string(), z.string()) });
const resourceUpdate = z.object({ subject: z.object({ "http://openbanking.org.uk/rid": z.string() }) });
const statusChange = z.object({
  status: z.string(),
  consent_id: z.optional(z.string()), // absent if the resource is the consent
  reason: z.optional(z.string()),
});
const claims = z.object({ jti: z.string(), toe: z.number(), events: z.record(z.string(), z.unknown()) });

/**
 * One poll (RFC 8936).
 *
 * @throws {ApiErrorResponse} if rejected
 * @throws {UntrustedMessage | JOSEError} if a token is not the platform's for this TPP. Then nothing more is acknowledged.
 */
export async function pollEvents(
  flow: PaymentFlow,
  token: AccessToken,
  poll: EventPoll = {},
): Promise<{ readonly events: readonly TppEvent[]; readonly moreAvailable: boolean }> {
  const { moreAvailable, sets } = answer.parse(await postUnsigned(flow, token, "events/v1", poll));
  const events = await Promise.all(Object.entries(sets).map(([jti, set]) => eventOf(flow, jti, set)));
  return { events, moreAvailable };
}

/**
 * Subscribes to pushes of the bank's events. A subscription that is there already stays.
 *
 * @param callbackUrl the `event_notification_uri` of the TPP's software statement
 * @throws {ApiErrorResponse} if rejected
 */
export async function subscribeToEvents(
  flow: PaymentFlow,
  token: AccessToken,
  callbackUrl: string,
): Promise<void> {
  const body = { Data: { CallbackUrl: callbackUrl, Version: "4.0" } };
  try {
    await postSigned(flow, token, { path: "event-subscriptions/v1", body });
  } catch (error) {
    if (!(error instanceof ApiErrorResponse && error.status === 409)) throw error;
  }
}

async function eventOf(flow: PaymentFlow, jti: string, set: string): Promise<TppEvent> {
  const event = await verifyEvent(flow, set);
  if (event.jti !== jti) throw new UntrustedMessage("An event has another jti than its token");
  return event;
}

/**
 * Verifies the token of one event, such as a pushed one.
 *
 * @throws {UntrustedMessage | JOSEError} if it is not the platform's for this TPP at this bank
 */
export async function verifyEvent(
  { tpp, bank, platformKeys }: Pick<PaymentFlow, "tpp" | "bank" | "platformKeys">,
  set: string,
): Promise<TppEvent> {
  const { payload } = await jwtVerify(set, platformKeys, {
    algorithms: [SIGNATURE_ALG],
    typ: "secevent+jwt",
    issuer: `${tpp.authUrl}/${bank}`,
    audience: tpp.participant.clientId,
    currentDate: new Date(tpp.now()),
  });
  const { jti, toe, events } = claims.parse(payload);
  const types = `${tpp.authUrl}/events/`;
  const id = Object.keys(events).find((name) => name.startsWith(types)) ?? "";
  const { status, consent_id, reason } = statusChange.parse(events[id]);
  const { subject } = resourceUpdate.parse(events[RESOURCE_UPDATE]);
  const resource = subject["http://openbanking.org.uk/rid"];
  const why = reason === undefined ? {} : { reason };
  const consentId = consent_id ?? resource;
  return { jti, type: id.slice(types.length), resource, consentId, status, at: toe, ...why };
}
