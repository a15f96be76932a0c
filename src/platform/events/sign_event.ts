/** Makes the security event token of an event: the same claims each time that it is sent (contract EVT2). */
import { type OwnKey, signClaims } from "../../base/jose/own_key.ts";
import { unixSeconds, wireDateTime } from "../../base/kernel/clock.ts";
import { CONSENTS_PATH, filledPath, PAYMENTS_PATH } from "../config/paths.ts";
import {
  EVENT_JWT,
  type EventClaims,
  type Happened,
  representResourceUpdate,
  RESOURCE_UPDATE,
} from "./event_claims_representation.ts";
import type { EventOwner, PlacedEvent } from "./event_store.ts";
import { type EventPlace, idOf, jtiOf, type NoticeEvent, type StatusEvent } from "./event.ts";

export interface SignEventDeps extends Origins {
  readonly signer: OwnKey;
}

export async function signEvent(deps: SignEventDeps, owner: EventOwner, event: PlacedEvent): Promise<string> {
  return await signClaims(claimsOf(event, owner, deps), deps.signer, EVENT_JWT.typ);
}

/** The origins of the platform. */
interface Origins {
  readonly baseUrl: string;
  readonly authUrl: string;
}

/** Returns the claims: OBIE's event, which names the resource, and one of the platform's own, which says what happened. */
function claimsOf(
  { entry: { value: event }, ...place }: PlacedEvent,
  { clientId, bank, audience = clientId }: EventOwner,
  origins: Origins,
): EventClaims {
  const isStatus = "consentId" in event;
  const { link, type } = isStatus ? resourceOf(event, place, bank, origins) : noticeResource(event);
  return {
    iss: `${origins.authUrl}/${bank}`, // Decision A1
    iat: unixSeconds(event.stagedAt),
    jti: jtiOf(place),
    aud: audience,
    sub: link,
    txn: event.interactionId ?? (isStatus ? event.consentId : idOf(place)),
    toe: unixSeconds(event.at),
    events: {
      [RESOURCE_UPDATE]: representResourceUpdate({ id: idOf(place), type, link }),
      [`${origins.authUrl}/events/${event.type}`]: {
        status: event.status,
        status_at: wireDateTime(event.at),
        ...(isStatus ? ofChange(event) : event.details),
      },
    },
  };
}

interface Resource {
  /** Its URL. */
  readonly link: string;
  /** OBIE's `rty`. */
  readonly type: string;
}

function resourceOf(
  event: StatusEvent,
  { resource }: EventPlace,
  bank: string,
  { baseUrl }: Origins,
): Resource {
  const isPayment = isOfPayment(event);
  const path = filledPath(isPayment ? PAYMENTS_PATH : CONSENTS_PATH, { bank });
  const type = isPayment ? "domestic-payment" : "domestic-payment-consent";
  return { link: `${baseUrl}${path}/${resource}`, type };
}

function noticeResource({ link, about }: NoticeEvent): Resource {
  return { link, type: about };
}

function isOfPayment({ type }: StatusEvent): boolean {
  return type === "payment-status-changed";
}

function ofChange(event: StatusEvent): Pick<Happened, "consent_id" | "reason_code" | "reason"> {
  return {
    ...(isOfPayment(event) ? { consent_id: event.consentId } : {}),
    ...(event.reasonCode === undefined ? {} : { reason_code: event.reasonCode }),
    ...(event.reason === undefined ? {} : { reason: event.reason }),
  };
}
