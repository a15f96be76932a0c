/** A bank's calls of the back channel, valid by default. */
import { assertEquals } from "@std/assert";
import { type AtBank, authorised } from "./authorization_flow.ts";
import {
  type BoundToken,
  call,
  type CallOptions,
  type FlowEnvironment,
  good,
  pay,
  type SentConsent,
} from "./flows.ts";
import {
  type AnswerOf,
  bodyOf,
  type PayerAccounts,
  type Payment,
  type PaymentOrder,
  type ResourceError,
} from "./answers.ts";
import type { JsonObject } from "./jwts.ts";
import type { Participant } from "./participants.ts";
import { assertFaults } from "./resource_answers.ts";
import type { Environment } from "./environment.ts";
import { sharedToken } from "./shared_token.ts";
import { unchanged } from "./store_contents.ts";

/** Challenges of the back channel. */
export const NOT_A_BANK = 'DPoP error="insufficient_scope", scope="bank", algs="PS256"';
export const NO_TOKEN_HERE = 'DPoP error="invalid_token", algs="PS256"';

/** Two accounts of the payer. */
export const ACCOUNTS = [
  {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB33BUKB20201555555555",
    Balance: "1000.00",
    Currency: "EUR",
  },
  {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB29NWBK60161331926819",
    Balance: "500.00",
    Currency: "EUR",
  },
];

/** `back-channel-auth` of a consent. */
export function consentPath(consentId: string, bank = "BANKA"): string {
  return `/${bank}/back-channel-auth/v1/${consentId}`;
}

/** `back-channel-payments`, of one payment or of the list. */
export function orderPath(paymentId?: string, bank = "BANKA"): string {
  return `/${bank}/back-channel-payments/v1${paymentId === undefined ? "" : `/${paymentId}`}`;
}

/** A call by a bank with a fresh token of its own. */
export async function bankCall(
  env: FlowEnvironment,
  bank: Participant,
  path: string,
  options: CallOptions & { bound?: BoundToken } = {},
): Promise<Response> {
  const bound = options.bound ?? await sharedToken(env, bank, bank.orgId);
  return await call(env, bank, bound, path, options);
}

/** Makes a bank's call and asserts that it changes no stored data. */
export async function idleBankCall(
  env: Environment,
  bank: Participant,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  const bound = await sharedToken(env, bank, bank.orgId);
  return await unchanged(env, () => call(env, bank, bound, path, options));
}

/** The body of an account report. */
export function report(bank: string, consentId: string, changes: JsonObject = {}): JsonObject {
  return {
    Data: { BankId: bank, ConsentId: consentId, Sub: "customer-1", DebtorAccount: ACCOUNTS, ...changes },
  };
}

/** The bank reports a payment's status, as of now unless a time is given. */
export function putStatus(
  env: FlowEnvironment,
  bank: Participant,
  paymentId: string,
  data: string | JsonObject,
  options: CallOptions & { bound?: BoundToken } = {},
): Promise<AnswerOf<PaymentOrder>> {
  const Data = typeof data === "string"
    ? { Status: data, StatusUpdateDateTime: new Date(env.now).toISOString() }
    : data;
  return bankCall(env, bank, orderPath(paymentId, bank.orgId), {
    method: "PUT",
    body: JSON.stringify({ Data }),
    ...options,
  });
}

/** A payment at a bank; returns the TPP's response. */
export async function paidAt(
  env: FlowEnvironment,
  bank: Participant,
  options: { body?: SentConsent } = {},
): Promise<{ data: Payment["Data"]; flow: Awaited<ReturnType<typeof authorised>> }> {
  const flow = await authorised(env, { bank, ...options });
  return { data: (await good(pay(env, flow), 201)).Data, flow };
}

/** The same response for resources that do not exist, are malformed or belong to another bank (Decision C2). */
export async function assertNotFound(response: Response): Promise<void> {
  await assertFaults(response, 400, [["Resource.NotFound"]]);
}

/** Asserts that the responses differ only in the id that names each error. */
export async function assertIndistinguishable(responses: readonly Response[]): Promise<void> {
  const bodies = await Promise.all(responses.map(async (response) => {
    const { Id: _, ...rest } = await bodyOf<ResourceError>(response);
    return { status: response.status, ...rest };
  }));
  for (const body of bodies) assertEquals(body, bodies[0]);
}

/** The bank's report for a flow, with any body. */
export async function putReport(
  env: FlowEnvironment,
  flow: AtBank,
  body: unknown,
  options: CallOptions = {},
): Promise<AnswerOf<PayerAccounts>> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await bankCall(env, flow.bank, consentPath(flow.consentId, flow.bank.orgId), {
    method: "PUT",
    body: text,
    ...options,
  });
}

/** Sends a report and asserts that it changes no stored data. */
export async function idleReport(
  env: Environment,
  flow: AtBank,
  body: unknown,
  options: CallOptions = {},
): Promise<AnswerOf<PayerAccounts>> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const path = consentPath(flow.consentId, flow.bank.orgId);
  return await idleBankCall(env, flow.bank, path, { method: "PUT", body: text, ...options });
}

/** The body of a valid report for a flow. */
export function reportFor(flow: AtBank, changes: JsonObject = {}): JsonObject {
  return report(flow.bank.orgId, flow.consentId, changes);
}
