/**
 * The steps of a payment for the bench: how each request is built and signed, the expected response, and the values
 * that the next request takes from it. Sends and measures no request.
 */
import {
  bodyOf,
  type CreatedConsent,
  type Payment,
  type PushedRequest,
  type TokenAnswer,
} from "../../testing/answers.ts";
import {
  Browser,
  type HandedOver,
  openHandover,
  putAccounts,
  redeem,
  returnPath,
} from "../../testing/authorization_flow.ts";
import {
  type BoundToken,
  call,
  consentBody,
  DEBTOR_ACCOUNT,
  type FlowEnvironment,
  paymentBody,
  push,
  requestToken,
} from "../../testing/flows.ts";
import type { TestKey } from "../../testing/keys.ts";
import { AUTH_URL, throughProxy } from "../../testing/environment.ts";
import type { StageName } from "./stages.ts";

/** A payment under way: what its next request needs of the answers so far. */
export interface Flow {
  consentId: string;
  requestUri: string;
  handover: HandedOver;
  code: string;
  payment: BoundToken;
  paymentId: string;
  readonly browser: Browser;
  /** Keeps what it is asked to send, as its proxy would pass it on. */
  readonly env: FlowEnvironment;
  readonly kept: Request[];
}

/** Shared by all payments of a run: the parties' tokens and the key they are bound to. */
export interface Parties {
  readonly key: TestKey;
  readonly own: BoundToken;
  readonly bank: BoundToken;
  /** Gives the platform's key set, as the bank keeps it. */
  readonly keySet: FlowEnvironment;
}

/** One step. */
export interface Step {
  readonly name: StageName;
  readonly status: number;
  make(flow: Flow, parties: Parties): Promise<unknown>;
  take?(flow: Flow, answer: Response): Promise<void>;
}

/** The bank with its own consent screen: the return leads straight to the code. */
export const BANK = "BANKB";
const CONSENTS = `/${BANK}/domestic-payment-consents/v1`;
const PAYMENTS = `/${BANK}/domestic-payments/v1`;
const DETAILS = `/${BANK}/back-channel-auth/v1`;
const ACCOUNTS = [{ ...DEBTOR_ACCOUNT, Balance: "1000.00", Currency: "EUR" }];
const BODY = consentBody();

/** A payment that has not begun. */
export function newFlow(env: FlowEnvironment): Flow {
  const kept: Request[] = [];
  const keep = (request: Request, as?: Parameters<FlowEnvironment["api"]>[1]): Promise<Response> => {
    kept.push(throughProxy(request, as));
    return Promise.resolve(new Response("{}"));
  };
  const recorder: FlowEnvironment = {
    tpp: env.tpp,
    bankA: env.bankA,
    bankB: env.bankB,
    api: keep,
    browser: (request) => keep(request),
    get now(): number {
      return env.now;
    },
  };
  const handover = { correlation_id: "", debtor_account_present: "false", ref_id: "" } as const;
  const none = { consentId: "", requestUri: "", handover, code: "", paymentId: "" };
  const payment = { token: "", key: undefined as never };
  return { ...none, payment, browser: new Browser(recorder), env: recorder, kept };
}

/** The request of a step, signed and ready. */
export async function requestOf(step: Step, flow: Flow, parties: Parties): Promise<Request> {
  flow.kept.length = 0;
  await step.make(flow, parties);
  const [request] = flow.kept;
  if (request === undefined) throw new Error(`${step.name} sent nothing`);
  return request;
}

/** In the order of a payment. */
export const STEPS: readonly Step[] = [
  {
    name: "token (client credentials)",
    status: 200,
    make: ({ env }, { key }) => requestToken(env, env.tpp, BANK, { key }),
  },
  {
    name: "consent POST",
    status: 201,
    make: ({ env }, { own }) => call(env, env.tpp, own, CONSENTS, { body: JSON.stringify(BODY) }),
    async take(flow, answer) {
      flow.consentId = (await bodyOf<CreatedConsent>(answer)).Data.ConsentId;
    },
  },
  {
    name: "consent GET",
    status: 200,
    make: ({ env, consentId }, { own }) => call(env, env.tpp, own, `${CONSENTS}/${consentId}`),
  },
  {
    name: "PAR",
    status: 201,
    make: ({ env, consentId }) => push(env, consentId, { bank: BANK }),
    async take(flow, answer) {
      flow.requestUri = (await bodyOf<PushedRequest>(answer)).request_uri;
    },
  },
  {
    name: "authorize",
    status: 303,
    make: ({ browser, env, requestUri }) => {
      const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: requestUri });
      return browser.open(`${AUTH_URL}/${BANK}/authorization.oauth2?${query}`);
    },
    async take(flow, answer) {
      flow.browser.cookies.keep(answer.headers);
      flow.handover = (await openHandover(flow.env.bankB, answer)).claims;
    },
  },
  {
    name: "back channel GET",
    status: 200,
    make: ({ env, consentId }, { bank }) => call(env, env.bankB, bank, `${DETAILS}/${consentId}`),
  },
  {
    name: "back channel PUT",
    status: 200,
    make: ({ env, consentId }, { bank }) => putAccounts(env, env.bankB, consentId, ACCOUNTS, { bound: bank }),
  },
  {
    name: "bank return",
    status: 303,
    make: async ({ browser, handover }, { keySet }) =>
      browser.open(await returnPath(keySet, keySet.bankB, handover)),
    take(flow, answer) {
      flow.code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
      return Promise.resolve();
    },
  },
  {
    name: "token (code)",
    status: 200,
    make: (flow, { key }) => redeem(flow.env, flow, { bank: BANK, key }),
    async take(flow, answer) {
      flow.payment = { token: (await bodyOf<TokenAnswer>(answer)).access_token, key: flow.payment.key };
    },
  },
  {
    name: "payment POST",
    status: 201,
    make: ({ env, payment, consentId }, { key }) =>
      call(env, env.tpp, { ...payment, key }, PAYMENTS, {
        body: JSON.stringify(paymentBody(consentId, BODY)),
      }),
    async take(flow, answer) {
      flow.paymentId = (await bodyOf<Payment>(answer)).Data.DomesticPaymentId;
    },
  },
  {
    name: "payment GET",
    status: 200,
    make: ({ env, paymentId }, { own }) => call(env, env.tpp, own, `${PAYMENTS}/${paymentId}`),
  },
];
