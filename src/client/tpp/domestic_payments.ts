/**
 * The payment part of the API for a TPP: consent, funds confirmation, payment (contract EP6 to EP10). Each function is
 * one call. It returns the decoded fields that a TPP needs, after checking that they belong to the request.
 */
import * as z from "zod/mini";
import { UntrustedMessage } from "../party/errors.ts";
import type { AccessToken } from "./authorization.ts";
import type { PaymentFlow } from "./payment_journey.ts";
import type { PaymentRequest } from "./payment_request.ts";
import { statusSchema } from "./payment_status.ts";
import { getResource, postSigned } from "./resource_request.ts";

const consentAnswer = z.object({
  Data: z.object({ ConsentId: z.uuid(), Status: z.string(), StatusReasonCode: z.optional(z.string()) }),
});
const fundsAnswer = z.object({
  Data: z.object({ FundsAvailableResult: z.optional(z.object({ FundsAvailable: z.boolean() })) }),
});
const paymentAnswer = z.object({
  Data: z.extend(statusSchema, { DomesticPaymentId: z.uuid(), ConsentId: z.string() }),
});

/** A consent as last seen. */
export interface ConsentSeen {
  readonly consentId: string;
  readonly status: string;
  /** Why it is `Rejected`: a code of the platform's list (contract RSN1). */
  readonly reasonCode?: string;
}

/** What answers and lists say of a payment's status, with the names of the API. */
export interface PaymentStatusOnWire {
  readonly Status: string;
  readonly StatusUpdateDateTime: string;
  readonly StatusReasonCode?: string | undefined;
  readonly StatusReason?: string | undefined;
}

/** A payment as last seen. */
export interface PaymentSeen {
  readonly paymentId: string;
  readonly status: string;
  /** ISO 8601, as the platform wrote it. */
  readonly statusUpdated: string;
  /** Why it is `Rejected`: a code of the platform's list (contract RSN1). */
  readonly reasonCode?: string;
  /** The bank's text about the rejection. */
  readonly reason?: string;
}

const consents = "domestic-payment-consents/v1";
const payments = "domestic-payments/v1";

/**
 * Endpoint 6. Requests the refund account.
 * @throws {ApiErrorResponse} if rejected.
 */
export async function createConsent(
  flow: PaymentFlow,
  token: AccessToken,
  request: PaymentRequest,
  idempotencyKey: string = crypto.randomUUID(),
): Promise<ConsentSeen> {
  const body = { Data: { ReadRefundAccount: "Yes", Initiation: request.initiation }, Risk: request.risk };
  const answer = await postSigned(flow, token, { path: consents, body, idempotencyKey });
  return consentSeen(answer);
}

/**
 * Endpoint 7.
 * @throws {ApiErrorResponse} if rejected.
 */
export async function readConsent(
  flow: PaymentFlow,
  token: AccessToken,
  consentId: string,
): Promise<ConsentSeen> {
  const seen = consentSeen(await getResource(flow, token, `${consents}/${consentId}`));
  if (seen.consentId !== consentId) throw new UntrustedMessage("The answer is about another consent");
  return seen;
}

function consentSeen(answer: unknown): ConsentSeen {
  const { ConsentId: consentId, Status: status, StatusReasonCode: reasonCode } =
    consentAnswer.parse(answer).Data;
  return { consentId, status, ...(reasonCode === undefined ? {} : { reasonCode }) };
}

/**
 * Endpoint 8: returns whether the account has the money; undefined if the bank reported no balance.
 * @throws {ApiErrorResponse} if rejected.
 */
export async function confirmFunds(
  flow: PaymentFlow,
  token: AccessToken,
  consentId: string,
): Promise<boolean | undefined> {
  const answer = await getResource(flow, token, `${consents}/${consentId}/funds-confirmation`);
  return fundsAnswer.parse(answer).Data.FundsAvailableResult?.FundsAvailable;
}

/**
 * Endpoint 9: submits the payment, with exactly the consent's initiation and risk.
 * @throws {ApiErrorResponse} if rejected. After any other error the payment may have been made: repeat the call with
 * the same key to find out.
 */
export async function createPayment(
  flow: PaymentFlow,
  token: AccessToken,
  command: PaymentRequest & { readonly consentId: string },
  idempotencyKey: string = crypto.randomUUID(),
): Promise<PaymentSeen> {
  const { consentId, initiation, risk } = command;
  const body = { Data: { ConsentId: consentId, Initiation: initiation }, Risk: risk };
  return ofConsent(await postSigned(flow, token, { path: payments, body, idempotencyKey }), consentId);
}

/**
 * Endpoint 10.
 * @throws {ApiErrorResponse} if rejected.
 */
export async function readPayment(
  flow: PaymentFlow,
  token: AccessToken,
  paymentId: string,
): Promise<PaymentSeen> {
  const { Data } = paymentAnswer.parse(await getResource(flow, token, `${payments}/${paymentId}`));
  if (Data.DomesticPaymentId !== paymentId) throw new UntrustedMessage("The answer is about another payment");
  return paymentSeen(paymentId, Data);
}

/**
 * Looks up the payment that an idempotency key has made within 24 hours.
 * @throws {ApiErrorResponse} if rejected, with `UK.OBIE.Resource.NotFound` if it has made none.
 */
export async function findPayment(
  flow: PaymentFlow,
  token: AccessToken,
  { consentId, idempotencyKey }: { readonly consentId: string; readonly idempotencyKey: string },
): Promise<PaymentSeen> {
  const query = new URLSearchParams({ "idempotency-key": idempotencyKey });
  return ofConsent(await getResource(flow, token, `${payments}?${query}`), consentId);
}

function ofConsent(answer: unknown, consentId: string): PaymentSeen {
  const { Data } = paymentAnswer.parse(answer);
  if (Data.ConsentId === consentId) return paymentSeen(Data.DomesticPaymentId, Data);
  throw new UntrustedMessage("The answer is about another consent's payment");
}

function paymentSeen(
  paymentId: string,
  { Status, StatusUpdateDateTime, StatusReasonCode, StatusReason }: PaymentStatusOnWire,
): PaymentSeen {
  return {
    paymentId,
    status: Status,
    statusUpdated: StatusUpdateDateTime,
    ...(StatusReasonCode === undefined ? {} : { reasonCode: StatusReasonCode }),
    ...(StatusReason === undefined ? {} : { reason: StatusReason }),
  };
}
