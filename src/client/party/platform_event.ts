/** The token of one event (RFC 8417; contract EVT1, EVT2): verified before its content is returned. */
import { type FlattenedVerifyGetKey, jwtVerify } from "jose";
import * as z from "zod/mini";
import { UntrustedMessage } from "./errors.ts";
import { SIGNATURE_ALG } from "./profile.ts";

/** A change of a consent or a payment, or a notice, such as of an outage. */
export interface PlatformEvent {
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
  /** Why a consent or a payment was rejected: a code of the platform's list (contract RSN1). */
  readonly reasonCode?: string;
  /** The bank's text about the rejection of a payment. */
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

/** What a poll returned. */
export interface PolledEvents {
  readonly events: readonly PlatformEvent[];
  readonly moreAvailable: boolean;
}

/** Whose events they are. */
export interface EventReceiver {
  readonly authUrl: string;
  /** The bank's code, part of the issuer. */
  readonly bank: string;
  readonly clientId: string;
  readonly platformKeys: FlattenedVerifyGetKey;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

const RESOURCE_UPDATE = "urn:uk:org:openbanking:events:resource-update";
const answer = z.object({ moreAvailable: z.boolean(), sets: z.record(z.string(), z.string()) });
const resourceUpdate = z.object({ subject: z.object({ "http://openbanking.org.uk/rid": z.string() }) });
const statusChange = z.object({
  status: z.string(),
  consent_id: z.optional(z.string()), // absent if the resource is the consent
  reason_code: z.optional(z.string()),
  reason: z.optional(z.string()),
});
const claims = z.object({ jti: z.string(), toe: z.number(), events: z.record(z.string(), z.unknown()) });

/**
 * Opens the answer of a poll (RFC 8936 §2.5).
 *
 * @throws {UntrustedMessage | JOSEError} if a token is not the platform's for this receiver
 */
export async function openPoll(receiver: EventReceiver, polled: unknown): Promise<PolledEvents> {
  const { moreAvailable, sets } = answer.parse(polled);
  const events = await Promise.all(
    Object.entries(sets).map(async ([jti, set]) => {
      const event = await openEvent(receiver, set);
      if (event.jti !== jti) throw new UntrustedMessage("An event has another jti than its token");
      return event;
    }),
  );
  return { events, moreAvailable };
}

/**
 * Verifies the token of one event.
 *
 * @throws {UntrustedMessage | JOSEError} if it is not the platform's for this receiver
 */
export async function openEvent(
  { authUrl, bank, clientId, platformKeys, now }: EventReceiver,
  set: string,
): Promise<PlatformEvent> {
  const { payload } = await jwtVerify(set, platformKeys, {
    algorithms: [SIGNATURE_ALG],
    typ: "secevent+jwt",
    issuer: `${authUrl}/${bank}`,
    audience: clientId,
    currentDate: new Date(now()),
  });
  const { jti, toe, events } = claims.parse(payload);
  const types = `${authUrl}/events/`;
  const id = Object.keys(events).find((name) => name.startsWith(types)) ?? "";
  const { status, consent_id, reason_code, reason } = statusChange.parse(events[id]);
  const { subject } = resourceUpdate.parse(events[RESOURCE_UPDATE]);
  const resource = subject["http://openbanking.org.uk/rid"];
  const why = {
    ...(reason_code === undefined ? {} : { reasonCode: reason_code }),
    ...(reason === undefined ? {} : { reason }),
  };
  const consentId = consent_id ?? resource;
  return { jti, type: id.slice(types.length), resource, consentId, status, at: toe, ...why };
}
