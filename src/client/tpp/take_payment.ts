/**
 * A payment in two calls: before the customer leaves for the bank, and after the return. What the first returns is
 * JSON, so that any process of the TPP can continue with it.
 */
import * as oauth from "oauth4webapi";
import { ApiErrorResponse } from "../party/api_error.ts";
import {
  type AccessToken,
  checkCallback,
  type CheckedCallback,
  exchangeCode,
  grantClientToken,
  type PendingAuthorization,
  pushAuthorization,
} from "./authorization.ts";
import { createConsent, createPayment, findPayment, type PaymentSeen } from "./domestic_payments.ts";
import type { PaymentFlow } from "./payment_journey.ts";
import type { PaymentRequest } from "./payment_request.ts";
import { type Persistence, persistently } from "./persistent.ts";

/** A payment that waits for its customer. Keep it in the customer's session; it is JSON. */
export interface BegunPayment {
  /** Redirect the customer's browser here. */
  readonly url: string;
  readonly consentId: string;
  readonly authorization: PendingAuthorization;
  readonly request: PaymentRequest;
  /** The idempotency key of the payment: repeating {@link finishPayment} makes no second one. */
  readonly paymentKey: string;
}

/** The end of a payment's authorization. */
export type PaymentEnd =
  /** The bank has the order. Its status may still change. */
  | { readonly kind: "submitted"; readonly payment: PaymentSeen }
  /** The customer rejected. No payment was made. */
  | ({ readonly kind: "rejected" } & FailedReturn)
  /** The customer came back without a decision. No payment was made; a new one may succeed. */
  | ({ readonly kind: "failed" } & FailedReturn);

/** The parameters of a return without a code. */
export interface FailedReturn {
  readonly error: string;
  readonly description: string;
  /** Why: a code of the platform's list (contract RSN1). */
  readonly reasonCode?: string;
}

/**
 * Creates the consent and announces the authorization (contract EP1, EP6, EP3).
 *
 * @param uiLocales languages of the customer for the platform's pages, such as `fr en`
 * @throws {ApiErrorResponse | oauth.ResponseBodyError} if the platform rejects a request
 * @example Redirect the customer to `begun.url`, and call `finishPayment` when they come back.
 * ```ts
 * const tpp = await openTpp({ dir: ".data/sandbox", name: "mine", endpoints, redirectUri });
 * const flow = await openFlow(tpp, "BANKA");
 * const begun = await beginPayment(flow, paymentRequest({ orderId, description, amount: "4.20", merchant }));
 * const end = await finishPayment(flow, begun, new URL(addressOfTheReturn));
 * ```
 */
export async function beginPayment(
  flow: PaymentFlow,
  request: PaymentRequest,
  { uiLocales, ...persistence }: Persistence & { readonly uiLocales?: string } = {},
): Promise<BegunPayment> {
  const again = <T>(call: () => Promise<T>): Promise<T> => persistently(call, persistence);
  const token = await again(() => grantClientToken(flow));
  const key = crypto.randomUUID();
  const { consentId } = await again(() => createConsent(flow, token, request, key));
  const authorization = await again(() => pushAuthorization(flow, consentId, uiLocales));
  return { url: authorization.url, consentId, authorization, request, paymentKey: crypto.randomUUID() };
}

/** The payment may have been made: no answer came. {@link submitPayment} with the same payment and token finds out. */
export class PaymentUnknown extends Error {
  override readonly name = "PaymentUnknown";

  constructor(readonly token: AccessToken, cause: unknown) {
    super("The platform did not say whether the payment was made", { cause });
  }
}

/**
 * Checks the customer's return and submits the payment (contract EP2, EP9).
 *
 * @param callback the address at which the customer arrived, with its query
 * @throws {oauth.OperationProcessingError} if the return was not meant for this payment: do not use it
 * @throws {ApiErrorResponse | oauth.ResponseBodyError} if the platform rejects a request
 * @throws {PaymentUnknown} if the code was exchanged and the payment's answer does not come. Calling it again would use
 *   the code twice, which revokes its token.
 */
export async function finishPayment(
  flow: PaymentFlow,
  begun: BegunPayment,
  callback: URL,
  persistence: Persistence = {},
): Promise<PaymentEnd> {
  let checked: CheckedCallback;
  try {
    checked = checkCallback(flow, begun.authorization, callback);
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw error;
    const kind = error.error === "access_denied" ? "rejected" : "failed";
    return { kind, ...failedReturn(error) };
  }
  const token = await exchangeCode(flow, begun.authorization, checked);
  return { kind: "submitted", payment: await submit(flow, begun, token, { ...persistence, former: 0 }) };
}

/** Returns the parameters of an authentic return without a code. */
export function failedReturn(
  { error, error_description: description = "", cause }: oauth.AuthorizationResponseError,
): FailedReturn {
  const reasonCode = cause.get("reason_code");
  return { error, description, ...(reasonCode === null ? {} : { reasonCode }) };
}

/**
 * Submits the payment again (contract EP9). Repeating it with the same payment and token makes no second one.
 *
 * @throws {ApiErrorResponse} if the platform rejects the request and has made no payment before
 * @throws {PaymentUnknown} if no answer comes
 */
export async function submitPayment(
  flow: PaymentFlow,
  begun: BegunPayment,
  token: AccessToken,
  persistence: Persistence = {},
): Promise<PaymentSeen> {
  return await submit(flow, begun, token, { ...persistence, former: 1 });
}

/** @param former how often it was submitted before */
async function submit(
  flow: PaymentFlow,
  begun: BegunPayment,
  token: AccessToken,
  { former, ...persistence }: Persistence & { readonly former: number },
): Promise<PaymentSeen> {
  const { consentId, request, paymentKey } = begun;
  let submitted = former;
  const post = (): Promise<PaymentSeen> => {
    submitted += 1;
    return createPayment(flow, token, { consentId, ...request }, paymentKey);
  };
  try {
    return await persistently(post, persistence);
  } catch (error) {
    if (!isRejection(error)) throw new PaymentUnknown(token, error);
    if (submitted === 1) throw error;
    return await findSubmitted(flow, begun, token, { ...persistence, rejection: error });
  }
}

/** After 429 the platform asks to send it again. */
function isRejection(error: unknown): error is ApiErrorResponse {
  return error instanceof ApiErrorResponse && error.status < 500 && error.status !== 429;
}

/** For so long the platform knows what an idempotency key has made (Decision C4). Milliseconds. */
const KEY_MS = 24 * 3_600_000;

/**
 * Finds out whether an earlier submission has made the payment. A later one may have been rejected for another reason,
 * such as a token that has expired meanwhile.
 */
async function findSubmitted(
  flow: PaymentFlow,
  { consentId, paymentKey: idempotencyKey }: BegunPayment,
  token: AccessToken,
  { rejection, ...persistence }: Persistence & { readonly rejection: ApiErrorResponse },
): Promise<PaymentSeen> {
  try {
    return await persistently(async () => {
      return await findPayment(flow, await grantClientToken(flow), { consentId, idempotencyKey });
    }, persistence);
  } catch (error) {
    const isNone = error instanceof ApiErrorResponse && error.codes.includes("UK.OBIE.Resource.NotFound");
    const grantedAt = token.expiresAt - token.expiresInSeconds * 1000;
    if (isNone && flow.tpp.now() < grantedAt + KEY_MS) throw rejection;
    throw new PaymentUnknown(token, rejection);
  }
}
