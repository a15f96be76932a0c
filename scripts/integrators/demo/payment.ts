/**
 * The nine steps of a payment (contract PN5), played by the TPP library and the demo's
 * customer. Reports each step as it happens; judges only whether the payment was accepted, or rejected as the
 * options asked.
 */
import * as oauth from "oauth4webapi";
import {
  type AccessToken,
  checkCallback,
  exchangeCode,
  grantClientToken,
  type PendingAuthorization,
  pushAuthorization,
} from "../../../src/client/tpp/authorization.ts";
import {
  confirmFunds,
  createConsent,
  createPayment,
  type PaymentSeen,
  readConsent,
  readPayment,
} from "../../../src/client/tpp/domestic_payments.ts";
import { pollEvents, type TppEvent } from "../../../src/client/tpp/events.ts";
import { emptyMessageLog, type MessageLog } from "../../../src/client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { type PaymentRequest, paymentRequest } from "../../../src/client/tpp/payment_request.ts";
import { merchant } from "../../../src/sandbox/shop/catalogue.ts";
import type { Tpp } from "../../../src/client/tpp/tpp.ts";
import { type CustomerStep, goThroughAuthorization } from "../../../src/sandbox/customer/customer.ts";
import type { ConsentKind, DemoOptions } from "./options.ts";

/** One line of the report. `step` counts from 1. */
export interface DemoStep {
  readonly step: number;
  readonly text: string;
  /** HTTP status, where the step is an exchange. */
  readonly status?: number;
}

/** The result of the payment. */
export interface DemoOutcome {
  /** Whether the payment was accepted. */
  readonly ok: boolean;
  /** `refused`: the customer rejected, as the options asked, and the TPP was informed. */
  readonly result: "accepted" | "refused" | "failed";
  /** One sentence. */
  readonly summary: string;
  readonly bank: string;
  readonly consentId: string;
  readonly consentStatus?: string;
  readonly paymentId?: string;
  readonly paymentStatus?: string;
  readonly fundsAvailable?: boolean;
  readonly error?: string;
}

interface Demo {
  readonly flow: PaymentFlow;
  readonly messages: MessageLog;
  readonly request: PaymentRequest;
  readonly report: (step: DemoStep) => void;
}

const bankOf: Readonly<Record<ConsentKind, string>> = { implicit: "BANKA", platform: "BANKA", bank: "BANKB" };
const customerIban = "GB33BUKB20201555555555";

/** Makes one payment. @throws {Error} when a step fails that was not meant to. */
export async function makePayment(
  tpp: Tpp,
  options: Omit<DemoOptions, "dispute">,
  report: (step: DemoStep) => void,
): Promise<DemoOutcome> {
  const bank = bankOf[options.consent];
  const messages = emptyMessageLog();
  const flow = await openFlow(tpp, bank, messages);
  const demo = { flow, messages, request: requestFor(options.consent), report };
  const clientToken = await obtainClientToken(demo);
  const consentId = await askForConsent(demo, clientToken);
  const pending = await announce(demo, consentId);
  const callback = await sendCustomer(demo, pending, options);
  const error = returnedError(demo, pending, callback);
  if (error !== undefined) {
    return await afterError(demo, clientToken, { bank, consentId, error, reject: options.reject });
  }
  if (options.reject) throw new Error("The customer rejected, and the TPP got a code");
  const token = await exchange(demo, pending, callback);
  const funds = await askForFunds(demo, token, consentId);
  const payment = await pay(demo, token, consentId);
  await readEvents(demo, clientToken, [consentId, payment.paymentId]);
  const ok = payment.status.startsWith("Accepted");
  return {
    ok,
    result: ok ? "accepted" : "failed",
    summary: `The payment is ${payment.status}.`,
    bank,
    consentId,
    paymentId: payment.paymentId,
    paymentStatus: payment.status,
    ...(funds === undefined ? {} : { fundsAvailable: funds }),
  };
}

function requestFor(consent: ConsentKind): PaymentRequest {
  return paymentRequest({
    orderId: crypto.randomUUID(),
    description: "Lunch of the day",
    amount: "12.50",
    merchant,
    ...(consent === "implicit" ? { debtorIban: customerIban } : {}),
  });
}

async function obtainClientToken(demo: Demo): Promise<AccessToken> {
  const token = await grantClientToken(demo.flow);
  tell(demo, 1, `client credentials token, DPoP-bound, ${token.expiresInSeconds} s`);
  return token;
}

async function askForConsent(demo: Demo, token: AccessToken): Promise<string> {
  const { consentId, status } = await createConsent(demo.flow, token, demo.request);
  const { Amount, Currency } = demo.request.initiation.InstructedAmount;
  tell(demo, 2, `consent ${consentId} for ${Currency} ${Amount} at ${demo.flow.bank}: ${status}`);
  return consentId;
}

async function announce(demo: Demo, consentId: string): Promise<PendingAuthorization> {
  const pending = await pushAuthorization(demo.flow, consentId);
  tell(demo, 3, `pushed authorization request, request_uri for ${pending.expiresInSeconds} s`);
  return pending;
}

async function sendCustomer(
  demo: Demo,
  pending: PendingAuthorization,
  options: Omit<DemoOptions, "dispute">,
): Promise<URL> {
  const plan = {
    startUrl: pending.url,
    redirectUri: demo.flow.tpp.redirectUri,
    ...(options.reject
      ? { rejectAt: options.consent === "implicit" ? "otp" as const : "consent" as const }
      : {}),
  };
  let reached = 4;
  return await goThroughAuthorization(plan, (customer) => {
    const told = customerStep(customer, demo.flow.tpp);
    reached = Math.max(reached, told.step); // the way back from the bank's own consent screen is no second SCA
    demo.report({ ...told, step: reached });
  });
}

/** 4 is the platform's start, 5 what the customer does at the bank, 6 the consent screen and the way back. */
function customerStep({ visit, form, action }: CustomerStep, { authUrl }: Tpp): DemoStep {
  const { method, url, status, location } = visit;
  const isStart = url.pathname.endsWith("/authorization.oauth2");
  const isAtPlatform = url.origin === new URL(authUrl).origin;
  const step = isStart ? 4 : isAtPlatform || form === "consent" ? 6 : 5;
  const outcome = location === undefined
    ? `${form} page: the customer ${action}`
    : `redirect to ${location.origin}${location.pathname}`;
  return { step, status, text: `customer's browser: ${method} ${url.origin}${url.pathname}, ${outcome}` };
}

/** @throws {Error} when the return was not meant for this authorization. */
function returnedError(demo: Demo, pending: PendingAuthorization, callback: URL): string | undefined {
  try {
    checkCallback(demo.flow, pending, callback);
    return undefined;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) return error.error;
    throw error;
  }
}

async function afterError(
  demo: Demo,
  token: AccessToken,
  seen: {
    readonly bank: string;
    readonly consentId: string;
    readonly error: string;
    readonly reject: boolean;
  },
): Promise<DemoOutcome> {
  const { bank, consentId, error, reject } = seen;
  demo.report({ step: 6, text: `the TPP learns error=${error}` });
  const { status } = await readConsent(demo.flow, token, consentId);
  tell(demo, 9, `consent ${consentId}: ${status}`);
  const result = reject && error === "access_denied" ? "refused" : "failed";
  const summary = result === "refused"
    ? "The customer rejected; no payment was made."
    : `The authorization failed with ${error}; no payment was made.`;
  return { ok: false, result, summary, bank, consentId, consentStatus: status, error };
}

async function exchange(demo: Demo, pending: PendingAuthorization, callback: URL): Promise<AccessToken> {
  const token = await exchangeCode(demo.flow, pending, checkCallback(demo.flow, pending, callback));
  tell(demo, 7, `code exchanged for the payment's token, DPoP-bound, ${token.expiresInSeconds} s`);
  return token;
}

async function askForFunds(demo: Demo, token: AccessToken, consentId: string): Promise<boolean | undefined> {
  const available = await confirmFunds(demo.flow, token, consentId);
  tell(
    demo,
    7,
    `funds confirmation: ${available === undefined ? "balance not known" : available ? "yes" : "no"}`,
  );
  return available;
}

async function pay(demo: Demo, token: AccessToken, consentId: string): Promise<PaymentSeen> {
  const { flow, request } = demo;
  const created = await createPayment(flow, token, { consentId, ...request });
  tell(demo, 8, `payment ${created.paymentId}: ${created.status}`);
  let seen = await readPayment(flow, token, created.paymentId);
  // Decision D4: Pending until the bank has answered.
  for (let attempt = 0; seen.status === "Pending" && attempt < 10; attempt++) {
    await new Promise((done) => setTimeout(done, 1000));
    seen = await readPayment(flow, token, created.paymentId);
  }
  tell(demo, 9, `payment ${seen.paymentId}: ${seen.status}`);
  return seen;
}

/** Bounds the pages of events that wait from earlier payments. */
const MAX_POLLS = 40;

/** Fetches and acknowledges all events that wait, and reports those of this payment. */
async function readEvents(demo: Demo, token: AccessToken, resources: readonly string[]): Promise<void> {
  const own: TppEvent[] = [];
  let ack: string[] = [];
  for (let polls = 0; polls < MAX_POLLS && (polls === 0 || ack.length > 0); polls++) {
    const { events } = await pollEvents(demo.flow, token, { ack, returnImmediately: true });
    own.push(...events.filter(({ resource }) => resources.includes(resource)));
    ack = events.map(({ jti }) => jti);
  }
  tell(demo, 9, `events: ${own.map(({ type, status }) => `${type} (${status})`).join(", ")}`);
}

/** Reports a step with the status of the API call it ended with. */
function tell({ flow, messages, report }: Demo, step: number, text: string): void {
  const call = messages.exchanges.findLast(({ url }) => url.startsWith(`${flow.tpp.baseUrl}/`));
  const status = call?.response?.status;
  report({ step, text, ...(status === undefined ? {} : { status }) });
}
