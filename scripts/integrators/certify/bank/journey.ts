/** The journeys of TPP and customer through the bank under test. The hook decides in the customer's place. */
import * as oauth from "oauth4webapi";
import {
  type AccessToken,
  checkCallback,
  exchangeCode,
  grantClientToken,
  type PendingAuthorization,
  pushAuthorization,
} from "../../../../src/client/tpp/authorization.ts";
import {
  createConsent,
  createPayment,
  type PaymentSeen,
  readConsent,
  readPayment,
} from "../../../../src/client/tpp/domestic_payments.ts";
import { type PaymentRequest, paymentRequest } from "../../../../src/client/tpp/payment_request.ts";
import type { PaymentFlow } from "../../../../src/client/tpp/payment_journey.ts";
import { type Browser, openBrowser, type Visit } from "../../../../src/sandbox/customer/browser.ts";
import { fillForm, findForms } from "../../../../src/sandbox/customer/forms.ts";
import { merchant } from "../../../../src/sandbox/shop/catalogue.ts";
import { whyRejected } from "../../tail/tail.ts";
import type { BankBench } from "./bench.ts";
import type { Decision } from "./hook.ts";

/** A consent with its customer's browser on the way to the bank. */
export interface Journey {
  readonly consentId: string;
  readonly request: PaymentRequest;
  /** Euros, with two fraction digits. */
  readonly amount: string;
  readonly pending: PendingAuthorization;
  readonly browser: Browser;
  /** The address at the bank, with the platform's handover JWT. */
  readonly arrival: URL;
}

/** The payment that a journey makes. */
export interface Plan {
  readonly amount?: string;
  /** The account that the TPP names; the consent is then implicit. */
  readonly debtor?: string;
}

/** How a customer came back to the TPP. */
export interface Back {
  readonly callback: URL;
  /** The error that the TPP got. */
  readonly error: string | undefined;
  /** What the platform rejected in the bank's return, with what it expected. */
  readonly why?: string;
}

/** A trace is stored about a second after its request. */
const TRACE_SECONDS = 5;

/** 1.00 to 1.99 euros, which also the second account of the hook has. */
export function someAmount(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return ((100 + random % 100) / 100).toFixed(2);
}

/**
 * A consent of the TPP that awaits authorisation.
 *
 * @param elsewhere the TPP at another bank; default: at the bank under test
 */
export async function makeConsent(
  bench: BankBench,
  { amount = someAmount(), debtor }: Plan = {},
  elsewhere?: PaymentFlow,
): Promise<{ readonly consentId: string; readonly request: PaymentRequest; readonly amount: string }> {
  const request = paymentRequest({
    orderId: crypto.randomUUID(),
    description: "Certification",
    amount,
    merchant,
    ...(debtor === undefined ? {} : { debtorIban: debtor }),
  });
  const token = elsewhere === undefined ? await bench.token() : await grantClientToken(elsewhere);
  const { consentId } = await createConsent(elsewhere ?? await bench.flow(), token, request);
  return { consentId, request, amount };
}

/** Leads a customer to the bank's address; the bank is not visited yet. */
export async function beginJourney(bench: BankBench, plan: Plan = {}): Promise<Journey> {
  const { consentId, request, amount } = await makeConsent(bench, plan);
  const pending = await pushAuthorization(await bench.flow(), consentId);
  const browser = openBrowser();
  const { location, status } = await browser.visit(new URL(pending.url));
  if (location === undefined) throw new Error(`the platform did not lead to the bank: ${status}`);
  return { consentId, request, amount, pending, browser, arrival: location };
}

/** Visits the bank's address, and the page behind it. @throws {Error} if the bank rejects the visit */
export async function arrive({ browser, arrival }: Journey): Promise<Visit> {
  const first = await browser.visit(arrival);
  const isNear = first.location?.origin === arrival.origin;
  const shown = first.location !== undefined && isNear ? await browser.visit(first.location) : first;
  if (shown.status >= 400) throw new Error(`a good handover JWT was answered ${shown.status}`);
  return shown;
}

/** A journey whose customer has arrived at the bank. */
export async function beginVisit(bench: BankBench, plan: Plan = {}): Promise<Journey> {
  const journey = await beginJourney(bench, plan);
  await arrive(journey);
  return journey;
}

/** Lets the customer decide. @returns where the bank leads the customer. @throws {Error} if it knows no visit */
export async function decided(
  { hook }: BankBench,
  { consentId }: Journey,
  decision: Decision,
  account?: string,
): Promise<URL> {
  const location = await hook.decide(consentId, decision, account);
  if (location === undefined) throw new Error("the hook knows no open visit of the consent");
  return location;
}

/** As {@link decided}, for a customer who decides in this browser. @throws {Error} if it is not led to the platform */
export async function decide(
  bench: BankBench,
  journey: Journey,
  decision: Decision,
  account?: string,
): Promise<URL> {
  const { platform: { endpoints }, bank } = bench;
  const location = await decided(bench, journey, decision, account);
  const expected = `${endpoints.auth_url}/${bank.code}/authorization.sca.oauth2`;
  const got = `${location.origin}${location.pathname}`;
  if (got !== expected) throw new Error(`the customer is led to ${got} in place of ${expected}`);
  return location;
}

/** Follows the bank's redirect to the TPP, and accepts on the platform's screen. @throws {Error} if it does not lead there */
export async function comeBack(
  bench: BankBench,
  { browser, pending }: Journey,
  location: URL,
  account?: string,
): Promise<Back> {
  return await goOn(bench, { browser, pending }, await browser.visit(location), account);
}

/** As {@link comeBack}, from the platform's answer to the return. */
export async function goOn(
  bench: BankBench,
  { browser, pending }: Pick<Journey, "browser" | "pending">,
  returned: Visit,
  account?: string,
): Promise<Back> {
  let visit = returned;
  if (visit.location?.pathname.endsWith("/authorization.consent.oauth2")) {
    visit = await acceptOnScreen(browser, await browser.visit(visit.location), account);
  }
  const callback = visit.location;
  const { redirectUri } = bench.platform.tpp;
  if (callback === undefined || `${callback.origin}${callback.pathname}` !== redirectUri) {
    throw new Error(
      `the platform rejected the bank's return: ${visit.status}${await remedy(bench, returned)}`,
    );
  }
  const error = errorOf(await bench.flow(), pending, callback);
  return error === "server_error"
    ? { callback, error, why: `${error}${await remedy(bench, returned)}` }
    : { callback, error };
}

/** What the trace of the bank's return says, to follow the words about it. */
async function remedy({ platform: { endpoints } }: BankBench, { interactionId }: Visit): Promise<string> {
  const { operations_url: url, directory_admin_token: token } = endpoints;
  if (interactionId === undefined) return "";
  const why = await whyRejected(interactionId, { url, token }, { fetch, seconds: TRACE_SECONDS });
  return why === undefined ? "" : ` (${why})`;
}

async function acceptOnScreen(browser: Browser, visit: Visit, wanted?: string): Promise<Visit> {
  const form = findForms(visit.page).find(({ id }) => id === "consent");
  if (form === undefined) throw new Error(`the platform showed no consent screen: ${visit.status}`);
  const accounts = form.fields.filter(({ name, disabled }) => name === "account" && !disabled);
  const chosen = wanted === undefined
    ? accounts.find(({ checked }) => checked) ?? accounts[0]
    : accounts.find(({ value }) => value.includes(wanted)) ?? accounts[0];
  const choices: Record<string, string> = chosen === undefined ? {} : { account: chosen.value };
  const body = fillForm(form, choices, { name: "decision", value: "accept" });
  return await browser.submit(new URL(form.action, visit.url), body, visit.url);
}

function errorOf(flow: PaymentFlow, pending: PendingAuthorization, callback: URL): string | undefined {
  try {
    checkCallback(flow, pending, callback);
    return undefined;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) return error.error;
    throw error;
  }
}

/** Goes from the TPP to the bank and back with an approval. @throws {Error} if the TPP gets no code */
export async function authorise(
  bench: BankBench,
  plan: Plan = {},
  account?: string,
): Promise<Journey & Back> {
  const journey = await beginJourney(bench, plan);
  return { ...journey, ...await approve(bench, journey, account) };
}

/** Lets the customer of a journey arrive, approve and come back. @throws {Error} if the TPP gets no code */
export async function approve(bench: BankBench, journey: Journey, account?: string): Promise<Back> {
  await arrive(journey);
  const back = await comeBack(bench, journey, await decide(bench, journey, "approve", account), account);
  if (back.error !== undefined) {
    throw new Error(`the customer approved, and the TPP got ${back.why ?? back.error}`);
  }
  return back;
}

/** Exchanges the code and submits the payment. */
export async function pay(
  bench: BankBench,
  { consentId, request, pending, callback }: Journey & Back,
): Promise<{ readonly payment: PaymentSeen; readonly token: AccessToken }> {
  const flow = await bench.flow();
  const token = await exchangeCode(flow, pending, checkCallback(flow, pending, callback));
  return { payment: await createPayment(flow, token, { consentId, ...request }), token };
}

/** Waits until the payment has left `Pending`, for `seconds` at most. */
export async function settled(
  bench: BankBench,
  { payment, token }: { readonly payment: PaymentSeen; readonly token: AccessToken },
): Promise<PaymentSeen> {
  const end = Date.now() + 20_000;
  let seen = payment;
  while (seen.status === "Pending" && Date.now() < end) {
    await pause(250);
    seen = await readPayment(await bench.flow(), token, payment.paymentId);
  }
  return seen;
}

/** The status of a consent as the TPP reads it. */
export async function consentStatus(bench: BankBench, consentId: string): Promise<string> {
  return (await readConsent(await bench.flow(), await bench.token(), consentId)).status;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
