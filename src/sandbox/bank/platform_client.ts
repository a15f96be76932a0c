/**
 * The platform's endpoints for banks: read a consent, put payer accounts, list payment orders, report a payment's
 * status (contract EP11, EP12; Decisions D2, D3). Only handles the wire format.
 */
import { z } from "zod";
import { bankKeys } from "./bank_keys.ts";
import type { BankClock, BankProfile } from "./bank_profile.ts";
import { signPayload } from "./payload_signature.ts";
import type { PlatformLink } from "./platform_link.ts";

export interface PlatformClientDeps {
  readonly profile: BankProfile;
  readonly baseUrl: string;
  readonly link: PlatformLink;
  readonly clock: BankClock;
}

const accountSchema = z.object({
  SchemeName: z.string(),
  Identification: z.string(),
  Name: z.string().nullish(),
});
const consentSchema = z.object({
  Data: z.object({
    Initiation: z.object({
      InstructionIdentification: z.string().nullish(),
      EndToEndIdentification: z.string().nullish(),
      InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
      DebtorAccount: accountSchema.nullish(),
      CreditorAccount: accountSchema,
      RemittanceInformation: z.object({ Reference: z.string().nullish(), Unstructured: z.string().nullish() })
        .nullish(),
    }),
  }),
});

/** An account as the wire names it. */
export type WireAccount = z.infer<typeof accountSchema>;
/** The part of a consent that the customer is shown. */
export type BankConsent = z.infer<typeof consentSchema>["Data"]["Initiation"];

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
  Data: z.object({ PaymentOrder: z.array(z.unknown()), After: z.string().min(1).optional() }),
});

/** A page of the bank's orders, oldest first. `after` is the cursor of the next page, absent at the end. */
export interface OrderPage {
  readonly orders: readonly unknown[];
  readonly after: string | undefined;
}

/** A settlement step of a payment. */
export interface StatusReport {
  readonly domesticPaymentId: string;
  readonly status: string;
  /** Why it was rejected. */
  readonly reason?: string;
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
  deps: PlatformClientDeps,
  { consentId, customerIp }: { readonly consentId: string; readonly customerIp: string },
): Promise<BankConsent> {
  const url = `${deps.baseUrl}/${deps.profile.code}/back-channel-auth/v1/${consentId}`;
  const response = await deps.link.call({ method: "GET", url, headers: customerHeaders(deps, customerIp) });
  const body = await bodyOf("reading a consent", response);
  return consentSchema.parse(body).Data.Initiation;
}

/**
 * Sends the customer's payer accounts, or the one selected (contract EP12).
 * @throws {PlatformRejected} on any status but 200
 */
export async function putPayerAccounts(deps: PlatformClientDeps, update: PayerAccountsUpdate): Promise<void> {
  const url = `${deps.baseUrl}/${deps.profile.code}/back-channel-auth/v1/${update.consentId}`;
  const data = {
    BankId: deps.profile.code,
    ConsentId: update.consentId,
    Sub: update.sub,
    DebtorAccount: update.accounts,
  };
  const response = await putSigned(deps, url, { Data: data }, customerHeaders(deps, update.customerIp));
  await bodyOf("putting payer accounts", response);
}

/**
 * Lists the bank's payment orders (Decision D2).
 * @throws {PlatformRejected} on any status but 200
 */
export async function listOrders(deps: PlatformClientDeps, after: string | undefined): Promise<OrderPage> {
  const url = new URL(`${deps.baseUrl}/${deps.profile.code}/back-channel-payments/v1`);
  if (after !== undefined) url.searchParams.set("after", after);
  const headers = { accept: "application/json", "x-fapi-interaction-id": crypto.randomUUID() };
  const response = await deps.link.call({ method: "GET", url: url.href, headers });
  const { Data } = orderPageSchema.parse(await bodyOf("listing orders", response));
  return { orders: Data.PaymentOrder, after: Data.After };
}

/**
 * Reports the status of a payment (Decision D3).
 * @throws {PlatformRejected} on any status but 200; do not retry after 404 or 400
 */
export async function reportStatus(deps: PlatformClientDeps, report: StatusReport): Promise<void> {
  const url = `${deps.baseUrl}/${deps.profile.code}/back-channel-payments/v1/${report.domesticPaymentId}`;
  const { status, reason, at = deps.clock() } = report;
  const data = {
    Status: status,
    StatusUpdateDateTime: new Date(at).toISOString(),
    ...(reason === undefined ? {} : { StatusReason: reason }),
  };
  const response = await putSigned(deps, url, { Data: data }, {
    "x-fapi-interaction-id": crypto.randomUUID(),
  });
  await bodyOf("reporting a status", response);
}

async function putSigned(
  deps: PlatformClientDeps,
  url: string,
  content: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  // Serialised once, so that the signed bytes are the bytes sent.
  const body = new TextEncoder().encode(JSON.stringify(content));
  const { signing } = await bankKeys(deps.profile);
  const signature = await signPayload({ ...deps.profile, signing }, body, Math.floor(deps.clock() / 1000));
  return await deps.link.call({
    method: "PUT",
    url,
    headers: { ...headers, "content-type": "application/json", "x-jws-signature": signature },
    body,
  });
}

function customerHeaders(
  { clock }: PlatformClientDeps,
  customerIp: string,
): Readonly<Record<string, string>> {
  return {
    accept: "application/json",
    "x-fapi-interaction-id": crypto.randomUUID(),
    "x-fapi-auth-date": new Date(clock()).toUTCString(), // IMF-fixdate (RFC 9110 §5.6.7)
    "x-fapi-customer-ip-address": customerIp,
  };
}

async function bodyOf(call: string, response: Response): Promise<unknown> {
  if (response.status === 200) return await response.json();
  await response.body?.cancel();
  throw new PlatformRejected(call, response.status);
}
