/** The requests of the Bruno collection: a TPP's operations in the order of a payment, and the values they hand on. */

/** A request that is generated from an operation of the OpenAPI document. */
export interface Step {
  readonly operation: string;
  /** Name of the request and its file. Default: the operation's id. */
  readonly name?: string;
  /** Optional parameters of the query that are sent. */
  readonly query?: readonly string[];
  /** The schema of the body, if the operation has several. */
  readonly schema?: string;
  /** The variable with the access token. Default: the token of the client. */
  readonly token?: "own_token" | "payment_token";
  /** Accepted statuses. Default: the operation's successes. */
  readonly statuses?: readonly number[];
  /** Variables that later requests need, by the part of the response that they are taken from. */
  readonly keep?: Readonly<Record<string, string>>;
}

export const STEPS: readonly (Step | "customer")[] = [
  { operation: "getAuthorizationServerMetadata", name: "Read the metadata of the bank" },
  { operation: "getPlatformKeys", name: "Read the platform's keys" },
  // 400: registered before with this statement
  { operation: "registerClient", name: "Register", statuses: [201, 400] },
  {
    operation: "issueAccessToken",
    name: "Get a token of your own",
    schema: "ClientCredentialsRequest",
    keep: { own_token: "res.body.access_token" },
  },
  {
    operation: "createDomesticPaymentConsent",
    name: "Create a consent",
    keep: { consent_id: "res.body.Data.ConsentId" },
  },
  { operation: "getDomesticPaymentConsent", name: "Read the consent" },
  {
    operation: "pushAuthorizationRequest",
    name: "Push the authorization request",
    keep: { request_uri: "res.body.request_uri" },
  },
  "customer",
  { operation: "getFundsConfirmation", name: "Ask for the funds" },
  {
    operation: "issueAccessToken",
    name: "Exchange the code",
    schema: "AuthorizationCodeRequest",
    keep: { payment_token: "res.body.access_token" },
  },
  {
    operation: "createDomesticPayment",
    name: "Pay",
    token: "payment_token",
    keep: {
      payment_id: "res.body.Data.DomesticPaymentId",
      interaction_id: "res.headers['x-fapi-interaction-id']",
    },
  },
  {
    operation: "findDomesticPayment",
    name: "Find the payment by its idempotency key",
    query: ["idempotency-key"],
  },
  { operation: "getDomesticPayment", name: "Read the payment" },
  { operation: "getDomesticPaymentReceipt", name: "Get a receipt" },
  { operation: "pollEvents", name: "Poll for events" },
  { operation: "listTraces", name: "List the payment's traces", query: ["payment_id"] },
  { operation: "getTraces", name: "Read the payment's trace" },
];

/** Tags of operations that no TPP's program calls: banks, browsers and the platform's operator do. */
export const LEFT_OUT: readonly string[] = ["Back channel", "Browser", "Operation"];

const SIGNED = "made by signing.js";

/** The values of parameters, form fields and members, by their names. Others are samples of their schema. */
export const VALUES: Readonly<Record<string, string>> = {
  "bank": "{{bank}}",
  "consentId": "{{consent_id}}",
  "consent_id": "{{consent_id}}",
  "ConsentId": "{{consent_id}}",
  "paymentId": "{{payment_id}}",
  "payment_id": "{{payment_id}}",
  "interactionId": "{{interaction_id}}",
  "idempotency-key": "{{idempotency_key}}",
  "x-idempotency-key": "{{idempotency_key}}",
  "dpop": SIGNED,
  "x-jws-signature": SIGNED,
  "client_id": "{{client_id}}",
  "clientId": "{{client_id}}",
  "client_assertion": SIGNED,
  "redirect_uri": "{{redirect_uri}}",
  "state": "{{state}}",
  "code": "{{code}}",
  "code_verifier": "{{code_verifier}}",
  "code_challenge": "{{code_challenge}}",
  "scope": "payments",
};
