/** A TPP's disputes, and the evidence of its payments (contract DSP1 to DSP5, EV17). Each function is one call. */
import {
  CASES,
  disputeIn,
  DISPUTES,
  type DisputeSeen,
  type DisputeStep,
  stepOnWire,
} from "../party/dispute.ts";
import type { AccessToken } from "./authorization.ts";
import type { PaymentFlow } from "./payment_journey.ts";
import { getResource, postSigned } from "./resource_request.ts";

/**
 * Takes a step in a dispute, signed.
 * @param token by client credentials
 * @throws {ApiErrorResponse} if rejected
 */
export async function takeDisputeStep(
  flow: PaymentFlow,
  token: AccessToken,
  step: DisputeStep,
  idempotencyKey: string = crypto.randomUUID(),
): Promise<DisputeSeen> {
  const request = { path: DISPUTES, body: stepOnWire(step), idempotencyKey };
  return disputeIn(await postSigned(flow, token, request), step.paymentId);
}

/** Reads the dispute about a payment. @throws {ApiErrorResponse} if rejected, also if there is none */
export async function readDispute(
  flow: PaymentFlow,
  token: AccessToken,
  paymentId: string,
): Promise<DisputeSeen> {
  return disputeIn(await getResource(flow, token, `${DISPUTES}/${paymentId}`), paymentId);
}

/**
 * Gets the bundle of a consent and its payment, which anyone can verify offline.
 * @param token by client credentials
 * @param id of the consent or the payment
 * @throws {ApiErrorResponse} if rejected; 503 for some seconds after a change, until the log has it
 */
export async function readCase(flow: PaymentFlow, token: AccessToken, id: string): Promise<unknown> {
  return await getResource(flow, token, `${CASES}/${id}`);
}
