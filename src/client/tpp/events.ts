/**
 * The TPP's events at a bank (contract EVT1 to EVT11): polls for them and acknowledges them, or subscribes to pushes of
 * them. Tokens are verified before their content is returned.
 */
import { ApiErrorResponse } from "../party/api_error.ts";
import {
  type EventPoll,
  type EventReceiver,
  openEvent,
  openPoll,
  type PlatformEvent,
  type PolledEvents,
} from "../party/platform_event.ts";
import type { AccessToken } from "./authorization.ts";
import type { PaymentFlow } from "./payment_journey.ts";
import { postSigned, postUnsigned } from "./resource_request.ts";

/** An event for the TPP: a change of its consent or payment, or a notice. */
export type TppEvent = PlatformEvent;

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
): Promise<PolledEvents> {
  return await openPoll(receiverOf(flow), await postUnsigned(flow, token, "events/v1", JSON.stringify(poll)));
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

/**
 * Verifies the token of one event, such as a pushed one.
 *
 * @throws {UntrustedMessage | JOSEError} if it is not the platform's for this TPP at this bank
 */
export async function verifyEvent(
  flow: Pick<PaymentFlow, "tpp" | "bank" | "platformKeys">,
  set: string,
): Promise<TppEvent> {
  return await openEvent(receiverOf(flow), set);
}

function receiverOf(
  { tpp: { authUrl, participant: { clientId }, now }, bank, platformKeys }: Pick<
    PaymentFlow,
    "tpp" | "bank" | "platformKeys"
  >,
): EventReceiver {
  return { authUrl, bank, clientId, platformKeys, now };
}
