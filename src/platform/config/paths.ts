/** Paths that a route declares and that links or metadata name too. */

export const REGISTRATION_PATH = "/register/v1";
export const REGISTERED_CLIENT_PATH = "/register/v1/{clientId}";
export const TOKEN_PATH = "/{bank}/token.oauth2/v1";
export const PUSH_PATH = "/{bank}/par.oauth2/v1";
export const KEYS_PATH = "/jwks";
export const AUTHORIZATION_PATH = "/{bank}/authorization.oauth2";
export const CONSENT_SCREEN_PATH = "/{bank}/authorization.consent.oauth2";
export const WAITING_PATH = "/{bank}/authorization.waiting.oauth2";
export const CONSENTS_PATH = "/{bank}/domestic-payment-consents/v1";
export const PAYMENTS_PATH = "/{bank}/domestic-payments/v1";
export const RECEIPT_PATH = "/{bank}/domestic-payments/v1/{paymentId}/receipt";
/** On the browser host. */
export const RECEIPT_PAGE_PATH = "/receipt";
/** On the browser host: the page; with `.json` the same as JSON. */
export const SERVICE_LEVELS_PATH = "/service-levels";
/** On the browser host: every bank with its state, for TPPs. */
export const BANKS_PATH = "/banks.json";
/** A consent as its bank reads it. */
export const PAYER_PATH = "/{bank}/back-channel-auth/v1/{consentId}";
/** A bank's payment orders, and one of them. */
export const ORDERS_PATH = "/{bank}/back-channel-payments/v1";
export const ORDER_PATH = "/{bank}/back-channel-payments/v1/{paymentId}";
/** A bank's results of authorization sessions. */
export const RESULTS_PATH = "/{bank}/authorization-results/v1";
export const BANK_EVENTS_PATH = "/{bank}/back-channel-events/v1";
export const EVENTS_PATH = "/{bank}/events/v1";
export const REPLAY_PATH = "/{bank}/events/v1/replay";
export const SUBSCRIPTIONS_PATH = "/{bank}/event-subscriptions/v1";
/** A case as its TPP or its bank reads it. */
export const CASE_PATH = "/{bank}/cases/v1/{caseId}";
/** Disputes at a bank, and that of one payment. */
export const DISPUTES_PATH = "/{bank}/disputes/v1";
export const DISPUTE_PATH = "/{bank}/disputes/v1/{paymentId}";
export const TRACES_PATH = "/traces/v1";
export const READINESS_PATH = "/health/ready";

type ParametersOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never;

/** Returns the path with its parameters filled in. */
export function filledPath<P extends string>(
  path: P,
  values: Readonly<Record<ParametersOf<P>, string>>,
): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: ParametersOf<P>) => values[name]);
}
