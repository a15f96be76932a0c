/** The claims of a security event token (RFC 8417; OBIE Event Notification 4.0.1), contract EVT2. No I/O. */
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import { unixSeconds, wireDateTime } from "../../base/kernel/clock.ts";
import { CONSENTS_PATH, filledPath, PAYMENTS_PATH } from "../paths.ts";
import { jtiOf, type StoredEvent } from "./event.ts";
import type { EventOwner, PlacedEvent } from "./event_store.ts";

/** `typ` of a security event token (RFC 8417 §2.3). Nothing else that the platform signs has it. */
export const SET_TYP = "secevent+jwt";
/** The one event that OBIE defines for payments. */
const RESOURCE_UPDATE = "urn:uk:org:openbanking:events:resource-update";
const OBIE = "http://openbanking.org.uk";
const API_VERSION = "v1";

/** The origins of the platform. */
export interface Origins {
  readonly baseUrl: string;
  readonly authUrl: string;
}

/**
 * Returns the claims: OBIE's event, which names the resource, and one of the platform's own, which says what happened.
 *
 * @param reason why the bank has rejected the payment
 */
export function claimsOf(
  { entry: { value: event }, ...place }: PlacedEvent,
  { clientId, bank }: EventOwner,
  { baseUrl, authUrl }: Origins,
  reason?: string,
): JsonObject {
  const isPayment = event.type === "payment-status-changed";
  const path = filledPath(isPayment ? PAYMENTS_PATH : CONSENTS_PATH, { bank });
  const resource = `${baseUrl}${path}/${place.resource}`;
  return {
    iss: `${authUrl}/${bank}`, // Decision A1
    iat: unixSeconds(event.stagedAt),
    jti: jtiOf(place),
    aud: clientId,
    sub: resource,
    txn: event.interactionId ?? event.consentId,
    toe: unixSeconds(event.at),
    events: {
      [RESOURCE_UPDATE]: {
        subject: {
          subject_type: `${OBIE}/rid_${OBIE}/rty`,
          [`${OBIE}/rid`]: place.resource,
          [`${OBIE}/rty`]: isPayment ? "domestic-payment" : "domestic-payment-consent",
          [`${OBIE}/rlk`]: [{ version: API_VERSION, link: resource }],
        },
      },
      [`${authUrl}/events/${event.type}`]: statusOf(event, isPayment, reason),
    },
  };
}

function statusOf(event: StoredEvent, isPayment: boolean, reason: string | undefined): JsonObject {
  return {
    status: event.status,
    status_at: wireDateTime(event.at),
    ...(isPayment ? { consent_id: event.consentId } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}
