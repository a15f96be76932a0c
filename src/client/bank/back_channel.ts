/**
 * The platform's endpoints for banks: read a consent, put payer accounts, list payment orders, report a payment's
 * status, poll events (contract EP11, EP12, EVT19; Decisions D2, D3). Only handles the wire format. Each function throws
 * `UntrustedMessage` or an error of `jose` if the platform has not signed its answer (contract SG6).
 */
import * as z from "zod/mini";
import {
  CASES,
  disputeIn,
  DISPUTES,
  type DisputeSeen,
  type DisputeStep,
  stepOnWire,
} from "../party/dispute.ts";
import { readSigned, signPayload } from "../party/payload_signature.ts";
import { type EventPoll, openPoll, type PolledEvents } from "../party/platform_event.ts";
import type { Bank } from "./bank.ts";
import { type BankWord, wordOnWire } from "./bank_word.ts";

const accountSchema = z.object({
  SchemeName: z.string(),
  Identification: z.string(),
  SecondaryIdentification: z.optional(z.string()),
  Name: z.nullish(z.string()),
});
const consentSchema = z.object({
  Data: z.object({
    Initiation: z.object({
      InstructionIdentification: z.nullish(z.string()),
      EndToEndIdentification: z.nullish(z.string()),
      InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
      DebtorAccount: z.nullish(accountSchema),
      CreditorAccount: accountSchema,
      RemittanceInformation: z.nullish(
        z.object({ Reference: z.nullish(z.string()), Unstructured: z.nullish(z.string()) }),
      ),
    }),
  }),
});

/** An account as the wire names it. */
export interface BankWireAccount {
  readonly SchemeName: string;
  readonly Identification: string;
  readonly SecondaryIdentification?: string | undefined;
  readonly Name?: string | null | undefined;
}

/** The part of a consent that the customer is shown. */
export interface BankConsent {
  readonly InstructionIdentification?: string | null | undefined;
  readonly EndToEndIdentification?: string | null | undefined;
  readonly InstructedAmount: { readonly Amount: string; readonly Currency: string };
  /** Present: the consent is implicit. */
  readonly DebtorAccount?: BankWireAccount | null | undefined;
  readonly CreditorAccount: BankWireAccount;
  readonly RemittanceInformation?:
    | { readonly Reference?: string | null | undefined; readonly Unstructured?: string | null | undefined }
    | null
    | undefined;
}

/** A payer account with its balance (contract BF7). */
export interface PayerAccount {
  readonly SchemeName: string;
  readonly Identification: string;
  readonly Balance?: string;
  readonly Currency?: string;
  readonly SecondaryIdentification?: string;
}

/** Payer accounts of one customer for one consent. */
export interface PayerAccountsUpdate {
  readonly consentId: string;
  readonly sub: string;
  readonly accounts: readonly PayerAccount[];
  readonly customerIp: string;
}

const orderPageSchema = z.object({
  Data: z.object({ PaymentOrder: z.array(z.unknown()), After: z.optional(z.string().check(z.minLength(1))) }),
});

/** A page of the bank's orders, oldest first. `after` is the cursor of the next page, absent at the end. */
export interface OrderPage {
  readonly orders: readonly unknown[];
  readonly after: string | undefined;
}

/** A settlement step of a payment. */
export interface StatusReport extends BankWord {
  readonly domesticPaymentId: string;
  readonly status: string;
  /** When the payment reached this status, milliseconds; default: now. */
  readonly at?: number;
}

/** The platform rejected a call. `status` is the HTTP status. */
export class PlatformRejected extends Error {
  override readonly name = "PlatformRejected";
  constructor(readonly call: string, readonly status: number) {
    super(`${call} was answered ${status}`);
  }
}

/**
 * Reads the consent (contract EP11).
 * @throws {PlatformRejected} on any status but 200
 */
export async function readConsent(
  bank: Bank,
  { consentId, customerIp }: { readonly consentId: string; readonly customerIp: string },
): Promise<BankConsent> {
  const url = `${bank.baseUrl}/${bank.code}/back-channel-auth/v1/${consentId}`;
  const response = await bank.link.call({ method: "GET", url, headers: customerHeaders(bank, customerIp) });
  const body = await bodyOf(bank, "reading a consent", response);
  return consentSchema.parse(body).Data.Initiation;
}

/**
 * Sends the customer's payer accounts, or the one selected (contract EP12).
 * @throws {PlatformRejected} on any status but 200
 */
export async function putPayerAccounts(bank: Bank, update: PayerAccountsUpdate): Promise<void> {
  const url = `${bank.baseUrl}/${bank.code}/back-channel-auth/v1/${update.consentId}`;
  const data = {
    BankId: bank.code,
    ConsentId: update.consentId,
    Sub: update.sub,
    DebtorAccount: update.accounts,
  };
  const headers = customerHeaders(bank, update.customerIp);
  const response = await sendSigned(bank, { method: "PUT", url, content: { Data: data }, headers });
  await bodyOf(bank, "putting payer accounts", response);
}

/**
 * Delivers a result on the back channel, for a customer who confirmed elsewhere than in the browser of the handover. Lost
 * the answer? Deliver the same text again.
 * @param sealed what `sealedResult` has made
 * @throws {PlatformRejected} on any status but 200
 */
export async function deliverResult(bank: Bank, sealed: string): Promise<void> {
  const url = `${bank.baseUrl}/${bank.code}/authorization-results/v1`;
  const headers = {
    accept: "application/json",
    "content-type": "application/jose",
    "x-fapi-interaction-id": crypto.randomUUID(),
  };
  const response = await bank.link.call({ method: "POST", url, headers, body: sealed });
  await bodyOf(bank, "delivering a result", response);
}

/**
 * Lists the bank's payment orders (Decision D2).
 * @throws {PlatformRejected} on any status but 200
 */
export async function listOrders(bank: Bank, after: string | undefined): Promise<OrderPage> {
  const query = after === undefined ? "" : `?${new URLSearchParams({ after })}`;
  const { Data } = orderPageSchema.parse(
    await read(bank, "listing orders", `back-channel-payments/v1${query}`),
  );
  return { orders: Data.PaymentOrder, after: Data.After };
}

/**
 * Reports the status of a payment (Decision D3).
 * @throws {PlatformRejected} on any status but 200; do not retry after 404 or 400
 */
export async function reportStatus(bank: Bank, report: StatusReport): Promise<void> {
  const url = `${bank.baseUrl}/${bank.code}/back-channel-payments/v1/${report.domesticPaymentId}`;
  const { status, at = bank.now() } = report;
  const data = { Status: status, StatusUpdateDateTime: new Date(at).toISOString(), ...wordOnWire(report) };
  const headers = { "x-fapi-interaction-id": crypto.randomUUID() };
  const response = await sendSigned(bank, { method: "PUT", url, content: { Data: data }, headers });
  await bodyOf(bank, "reporting a status", response);
}

/**
 * One poll of the bank's own events: what ended without it (contract EVT19).
 * @throws {PlatformRejected} on any status but 200
 * @throws {UntrustedMessage | JOSEError} if a token is not the platform's for this bank
 */
export async function pollBankEvents(bank: Bank, poll: EventPoll = {}): Promise<PolledEvents> {
  const url = `${bank.baseUrl}/${bank.code}/back-channel-events/v1`;
  const headers = { accept: "application/json", "content-type": "application/json" };
  const response = await bank.link.call({ method: "POST", url, headers, body: JSON.stringify(poll) });
  const { authUrl, code, participant: { clientId }, now, platformKeys } = bank;
  const receiver = { authUrl, bank: code, clientId, platformKeys: platformKeys.verificationKey, now };
  return await openPoll(receiver, await bodyOf(bank, "polling events", response));
}

/**
 * Takes a step in a dispute about a payment, signed (contract DSP1, DSP2).
 * @throws {PlatformRejected} on any status but 201
 */
export async function takeDisputeStep(
  bank: Bank,
  step: DisputeStep,
  idempotencyKey: string = crypto.randomUUID(),
): Promise<DisputeSeen> {
  const headers = { "x-fapi-interaction-id": crypto.randomUUID(), "x-idempotency-key": idempotencyKey };
  const url = `${bank.baseUrl}/${bank.code}/${DISPUTES}`;
  const response = await sendSigned(bank, { method: "POST", url, content: stepOnWire(step), headers });
  return disputeIn(await bodyOf(bank, "a step in a dispute", response, 201), step.paymentId);
}

/** Reads the dispute about a payment (contract DSP5). @throws {PlatformRejected} on any status but 200 */
export async function readDispute(bank: Bank, paymentId: string): Promise<DisputeSeen> {
  return disputeIn(await read(bank, "reading a dispute", `${DISPUTES}/${paymentId}`), paymentId);
}

/**
 * Gets the bundle of a consent and its payment, which anyone can verify offline (contract EV17).
 * @param id of the consent or the payment
 * @throws {PlatformRejected} on any status but 200; 503 for some seconds after a change, until the log has it
 */
export async function readCase(bank: Bank, id: string): Promise<unknown> {
  return await read(bank, "reading a case", `${CASES}/${id}`);
}

async function read(bank: Bank, call: string, path: string): Promise<unknown> {
  const headers = { accept: "application/json", "x-fapi-interaction-id": crypto.randomUUID() };
  const response = await bank.link.call({
    method: "GET",
    url: `${bank.baseUrl}/${bank.code}/${path}`,
    headers,
  });
  return await bodyOf(bank, call, response);
}

async function sendSigned(
  bank: Bank,
  { method, url, content, headers }: {
    readonly method: "PUT" | "POST";
    readonly url: string;
    readonly content: unknown;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<Response> {
  // Serialised once, so that the signed bytes are the bytes sent.
  const body = JSON.stringify(content);
  const signature = await signPayload(bank.signer, new TextEncoder().encode(body), bank.now());
  return await bank.link.call({
    method,
    url,
    headers: { ...headers, "content-type": "application/json", "x-jws-signature": signature },
    body,
  });
}

function customerHeaders({ now }: Bank, customerIp: string): Readonly<Record<string, string>> {
  return {
    accept: "application/json",
    "x-fapi-interaction-id": crypto.randomUUID(),
    "x-fapi-auth-date": new Date(now()).toUTCString(), // IMF-fixdate (RFC 9110 §5.6.7)
    "x-fapi-customer-ip-address": customerIp,
  };
}

async function bodyOf(
  { platformKeys }: Bank,
  call: string,
  response: Response,
  expected = 200,
): Promise<unknown> {
  if (response.status === expected) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    return await readSigned(response, bytes, platformKeys.verificationKey);
  }
  await response.body?.cancel();
  throw new PlatformRejected(call, response.status);
}
