/** The operations that can be tried, in the order of a payment, each with a valid request for the state of the walk. */
import { paymentRequest } from "../../client/tpp/payment_request.ts";
import { goods, merchant } from "../shop/catalogue.ts";
import type { TokenKind, Walk } from "./walk.ts";

/** An operation of the API, by its `operationId` in the OpenAPI document. */
export interface Operation {
  readonly id: string;
  readonly title: string;
  readonly method: "GET" | "POST";
  /** Below the bank's; `{id}` stands for the resource. */
  readonly path: string;
  /** How a body is sent: a form with a client assertion, JSON with `x-jws-signature`, or JSON alone. */
  readonly body?: "form" | "signed" | "unsigned";
  readonly hasKey?: true;
  /** Names of its query's parameters. */
  readonly query?: string;
  readonly token?: TokenKind;
  /** A valid body, and the id of the resource that was made last. */
  readonly prefill?: (
    walk: Walk,
    shop: ShopAddresses,
  ) => { readonly body?: string; readonly id?: string | undefined };
  /** What follows in a payment. */
  readonly next: readonly string[];
}

/** The registered addresses of the participant that signs. */
export interface ShopAddresses {
  readonly redirectUri: string;
  readonly eventsUri: string;
  /** Whether customers return to these pages. Else the developer copies the code of the address. */
  readonly returnsHere: boolean;
}

/** Below it are the pages. */
export const TRY_PATH = "/developer/try";

const CONSENTS = "domestic-payment-consents/v1";
const PAYMENTS = "domestic-payments/v1";
const LISTED = "from, until, status, end-to-end-id, after";

export const OPERATIONS: readonly Operation[] = [
  {
    id: "issueAccessToken",
    title: "Get an access token",
    method: "POST",
    path: "token.oauth2/v1",
    body: "form",
    prefill: ({ returned, pending }, { redirectUri, returnsHere }) => {
      const code = returned !== undefined ? "$CODE" : pending !== undefined && !returnsHere ? "" : undefined;
      return {
        body: code === undefined
          ? "grant_type=client_credentials\nscope=payments"
          : `grant_type=authorization_code\ncode=${code}\nredirect_uri=${redirectUri}\ncode_verifier=$VERIFIER`,
      };
    },
    next: ["createDomesticPaymentConsent", "createDomesticPayment"],
  },
  {
    id: "createDomesticPaymentConsent",
    title: "Create a consent",
    method: "POST",
    path: CONSENTS,
    body: "signed",
    hasKey: true,
    token: "client_credentials",
    prefill: () => ({ body: newConsent() }),
    next: ["pushAuthorizationRequest", "getDomesticPaymentConsent"],
  },
  {
    id: "getDomesticPaymentConsent",
    title: "Read a consent",
    method: "GET",
    path: `${CONSENTS}/{id}`,
    token: "client_credentials",
    prefill: ({ consent }) => ({ id: consent?.id }),
    next: ["pushAuthorizationRequest", "getFundsConfirmation"],
  },
  {
    id: "pushAuthorizationRequest",
    title: "Push the authorization request",
    method: "POST",
    path: "par.oauth2/v1",
    body: "form",
    prefill: ({ consent }, { redirectUri }) => ({
      body: [
        "response_type=code",
        `redirect_uri=${redirectUri}`,
        "scope=payments",
        `consent_id=${consent?.id ?? ""}`,
        "code_challenge=$CHALLENGE",
        "code_challenge_method=S256",
        "state=$STATE",
        "dpop_jkt=$JKT",
      ].join("\n"),
    }),
    next: [],
  },
  {
    id: "getFundsConfirmation",
    title: "Ask whether the funds are there",
    method: "GET",
    path: `${CONSENTS}/{id}/funds-confirmation`,
    token: "authorization_code",
    prefill: ({ consent }) => ({ id: consent?.id }),
    next: ["createDomesticPayment"],
  },
  {
    id: "createDomesticPayment",
    title: "Make the payment",
    method: "POST",
    path: PAYMENTS,
    body: "signed",
    hasKey: true,
    token: "authorization_code",
    prefill: (walk) => ({ body: newPayment(walk) }),
    next: ["getDomesticPayment"],
  },
  {
    id: "getDomesticPayment",
    title: "Read a payment",
    method: "GET",
    path: `${PAYMENTS}/{id}`,
    token: "client_credentials",
    prefill: ({ paymentId }) => ({ id: paymentId }),
    next: ["getDomesticPaymentReceipt", "pollEvents"],
  },
  {
    id: "getDomesticPaymentReceipt",
    title: "Get a receipt",
    method: "GET",
    path: `${PAYMENTS}/{id}/receipt`,
    token: "client_credentials",
    prefill: ({ paymentId }) => ({ id: paymentId }),
    next: [],
  },
  {
    id: "listDomesticPaymentConsents",
    title: "List consents",
    method: "GET",
    path: CONSENTS,
    query: LISTED,
    token: "client_credentials",
    next: [],
  },
  {
    id: "findDomesticPayment",
    title: "List or find payments",
    method: "GET",
    path: PAYMENTS,
    query: `${LISTED}, idempotency-key`,
    token: "client_credentials",
    next: [],
  },
  {
    id: "createEventSubscription",
    title: "Subscribe to events",
    method: "POST",
    path: "event-subscriptions/v1",
    body: "signed",
    token: "client_credentials",
    prefill: (_walk, { eventsUri }) => ({ body: json({ Data: { CallbackUrl: eventsUri, Version: "4.0" } }) }),
    next: ["getEventSubscriptions"],
  },
  {
    id: "getEventSubscriptions",
    title: "Read the subscription",
    method: "GET",
    path: "event-subscriptions/v1",
    token: "client_credentials",
    next: [],
  },
  {
    id: "pollEvents",
    title: "Poll for events",
    method: "POST",
    path: "events/v1",
    body: "unsigned",
    token: "client_credentials",
    prefill: () => ({ body: json({ ack: [], maxEvents: 5, returnImmediately: true }) }),
    next: [],
  },
];

/** @returns undefined if the id is not one of them */
export function operationOf(id: string): Operation | undefined {
  return OPERATIONS.find((one) => one.id === id);
}

/** The page that tries an operation, for the portal. */
export function tryLink(shopUrl: string): (operationId: string) => string | undefined {
  return (id) => operationOf(id) === undefined ? undefined : `${shopUrl}${tryPath("BANKA", id)}`;
}

/** The path of an operation's page. */
export function tryPath(bank: string, operationId: string): string {
  return `${TRY_PATH}/${bank}/${operationId}`;
}

function newConsent(): string {
  const [good] = goods;
  const { initiation, risk } = paymentRequest({
    orderId: crypto.randomUUID(),
    description: good?.name ?? "",
    amount: good?.price ?? "",
    merchant,
  });
  return json({ Data: { ReadRefundAccount: "Yes", Initiation: initiation }, Risk: risk });
}

function newPayment({ consent }: Walk): string {
  return json({
    Data: { ConsentId: consent?.id ?? "", Initiation: consent?.request.initiation ?? {} },
    Risk: consent?.request.risk ?? {},
  });
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
