/**
 * The payment side of the API for a TPP: consent, funds confirmation, payment (contract EP6 to EP10). Each
 * function is one call; what comes back is only what a TPP acts on, decoded, and tied to what was asked.
 */
import { z } from "zod";
import type { AccessToken } from "./authorization.ts";
import type { PaymentFlow } from "./payment_journey.ts";
import type { PaymentRequest } from "./payment_request.ts";
import { getResource, postSigned } from "./resource_request.ts";

const consentAnswer = z.object({ Data: z.object({ ConsentId: z.uuid(), Status: z.string() }) });
const fundsAnswer = z.object({
  Data: z.object({ FundsAvailableResult: z.object({ FundsAvailable: z.boolean() }).optional() }),
});
const paymentAnswer = z.object({
  Data: z.object({
    DomesticPaymentId: z.uuid(),
    ConsentId: z.string(),
    Status: z.string(),
    StatusUpdateDateTime: z.string(),
    StatusReason: z.string().optional(),
  }),
});

/** A consent as last seen. */
export interface ConsentSeen {
  readonly consentId: string;
  readonly status: string;
}

/** A payment as last seen. */
export interface PaymentSeen {
  readonly paymentId: string;
  readonly status: string;
  /** ISO 8601, as the platform wrote it. */
  readonly statusUpdated: string;
  /** Why the bank rejected it, in the bank's words. */
  readonly reason?: string;
}

const consents = "domestic-payment-consents/v1";
const payments = "domestic-payments/v1";

/**
 * Endpoint 6. The refund account is asked for.
 * @throws {ApiErrorResponse} when rejected.
 */
export async function createConsent(
  flow: PaymentFlow,
  token: AccessToken,
  request: PaymentRequest,
  idempotencyKey: string = crypto.randomUUID(),
): Promise<ConsentSeen> {
  const body = { Data: { ReadRefundAccount: "Yes", Initiation: request.initiation }, Risk: request.risk };
  const answer = await postSigned(flow, token, { path: consents, body, idempotencyKey });
  const { Data } = consentAnswer.parse(answer);
  return { consentId: Data.ConsentId, status: Data.Status };
}

/**
 * Endpoint 7.
 * @throws {ApiErrorResponse} when rejected.
 */
export async function readConsent(
  flow: PaymentFlow,
  token: AccessToken,
  consentId: string,
): Promise<ConsentSeen> {
  const { Data } = consentAnswer.parse(await getResource(flow, token, `${consents}/${consentId}`));
  if (Data.ConsentId !== consentId) throw new Error("The answer is about another consent");
  return { consentId, status: Data.Status };
}

/**
 * Endpoint 8: whether the account has the money; undefined where the bank gave no balance.
 * @throws {ApiErrorResponse} when rejected.
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
 * @throws {ApiErrorResponse} when rejected. Any other error leaves open whether the payment was made: repeat it
 * with the same key to learn.
 */
export async function createPayment(
  flow: PaymentFlow,
  token: AccessToken,
  command: PaymentRequest & { readonly consentId: string },
  idempotencyKey: string = crypto.randomUUID(),
): Promise<PaymentSeen> {
  const { consentId, initiation, risk } = command;
  const body = { Data: { ConsentId: consentId, Initiation: initiation }, Risk: risk };
  const { Data } = paymentAnswer.parse(
    await postSigned(flow, token, { path: payments, body, idempotencyKey }),
  );
  if (Data.ConsentId !== consentId) throw new Error("The answer is about another consent's payment");
  return paymentOf(Data);
}

/**
 * Endpoint 10.
 * @throws {ApiErrorResponse} when rejected.
 */
export async function readPayment(
  flow: PaymentFlow,
  token: AccessToken,
  paymentId: string,
): Promise<PaymentSeen> {
  const { Data } = paymentAnswer.parse(await getResource(flow, token, `${payments}/${paymentId}`));
  if (Data.DomesticPaymentId !== paymentId) throw new Error("The answer is about another payment");
  return paymentOf(Data);
}

function paymentOf(
  { DomesticPaymentId, Status, StatusUpdateDateTime, StatusReason }: z.infer<typeof paymentAnswer>["Data"],
): PaymentSeen {
  return {
    paymentId: DomesticPaymentId,
    status: Status,
    statusUpdated: StatusUpdateDateTime,
    ...(StatusReason === undefined ? {} : { reason: StatusReason }),
  };
}
