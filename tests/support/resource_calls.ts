/** One good call of each resource endpoint of a TPP, for tests that break the same thing at all of them. */
import {
  type BoundToken,
  call,
  type CallOptions,
  consentBody,
  good,
  pay,
  paymentBody,
} from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import type { Participant } from "testing/participants.ts";
import { BASE_URL, type Environment } from "testing/environment.ts";

/** A call that is answered well unless its options break it. A POST brings a fresh idempotency key each time. */
export interface ResourceCall {
  /** As in test names: `GET domestic-payments/{id}`. */
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The URL that a proof must be for. */
  readonly url: string;
  readonly bound: BoundToken;
  readonly body?: string;
  readonly status: 200 | 201;
  send(options?: CallOptions & { token?: BoundToken; caller?: Participant }): Promise<Response>;
}

export const CONSENTS = "/BANKA/domestic-payment-consents/v1";
export const PAYMENTS = "/BANKA/domestic-payments/v1";

/** The endpoints, ready to be called: an authorised consent for each that needs one, and a made payment. */
export async function resourceCalls(env: Environment): Promise<readonly ResourceCall[]> {
  const open = await authorised(env);
  const done = await authorised(env);
  const key = crypto.randomUUID();
  const payment = await good(pay(env, done, { idempotencyKey: key }), 201);
  const make = (name: string, bound: BoundToken, path: string, body?: unknown): ResourceCall => {
    const method = body === undefined ? "GET" : "POST";
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return {
      name: `${method} ${name}`,
      method,
      path,
      url: BASE_URL + path.split("?")[0],
      bound,
      ...text,
      status: body === undefined ? 200 : 201,
      send: ({ token = bound, caller = env.tpp, ...options } = {}) =>
        call(env, caller, token, path, { ...text, ...options }),
    };
  };
  return [
    make("domestic-payment-consents", open.bound, CONSENTS, consentBody()),
    make("domestic-payment-consents", open.bound, CONSENTS),
    make("domestic-payments", done.bound, PAYMENTS),
    make("domestic-payment-consents/{id}", open.bound, `${CONSENTS}/${open.consentId}`),
    make("funds-confirmation", open.bound, `${CONSENTS}/${open.consentId}/funds-confirmation`),
    make("domestic-payments/{id}", done.payment, `${PAYMENTS}/${payment.Data.DomesticPaymentId}`),
    make("domestic-payments?idempotency-key", done.bound, `${PAYMENTS}?idempotency-key=${key}`),
    make("domestic-payments", open.payment, PAYMENTS, paymentBody(open.consentId)), // last: it consumes the consent
  ];
}
