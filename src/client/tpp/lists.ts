/** The lists of a TPP's own consents and payments at a bank (an extension, contract LS1). */
import * as z from "zod/mini";
import type { AccessToken } from "./authorization.ts";
import type { PaymentStatusOnWire } from "./domestic_payments.ts";
import { statusSchema } from "./payment_status.ts";
import type { PaymentFlow } from "./payment_journey.ts";
import { getResource } from "./resource_request.ts";

/** Which entries are asked for. */
export interface ListQuery {
  /** Created then or later. */
  readonly from?: Date;
  /** Created before. */
  readonly until?: Date;
  /** The current status. */
  readonly status?: string;
  readonly endToEndId?: string;
  /** The `after` of an earlier page. */
  readonly after?: string;
}

const entry = z.object({
  ConsentId: z.string(),
  CreationDateTime: z.string(),
  Status: z.string(),
  StatusUpdateDateTime: z.string(),
  StatusReasonCode: z.optional(z.string()),
  EndToEndIdentification: z.optional(z.string()),
  InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
});
const payment = z.extend(entry, { ...statusSchema.shape, DomesticPaymentId: z.string() });
const page = { After: z.optional(z.string()) };
const consentsAnswer = z.object({ Data: z.object({ Consent: z.array(entry), ...page }) });
const paymentsAnswer = z.object({ Data: z.object({ Payment: z.array(payment), ...page }) });

/** A consent in a list, with the names of the API. */
export interface ListedConsent {
  readonly ConsentId: string;
  readonly CreationDateTime: string;
  readonly Status: string;
  readonly StatusUpdateDateTime: string;
  readonly StatusReasonCode?: string | undefined;
  readonly EndToEndIdentification?: string | undefined;
  readonly InstructedAmount: { readonly Amount: string; readonly Currency: string };
}

/** A payment in a list, with the names of the API. */
export interface ListedPayment extends ListedConsent, PaymentStatusOnWire {
  readonly DomesticPaymentId: string;
}

export interface ListPage<T> {
  /** Oldest first. It can be empty although there are more pages, and can repeat entries of the page before. */
  readonly found: readonly T[];
  /**
   * Send it with the same query to get the next page. Undefined at the end. If it is the one that was sent, wait 30 s:
   * the entries behind it are too young.
   */
  readonly after: string | undefined;
}

/**
 * Lists consents of this TPP at the flow's bank.
 *
 * @param token of the client credentials grant
 * @throws {ApiErrorResponse} if rejected; 429 beyond the limit of lists, by default 2 a second.
 */
export async function listConsents(
  flow: PaymentFlow,
  token: AccessToken,
  query: ListQuery = {},
): Promise<ListPage<ListedConsent>> {
  const path = `domestic-payment-consents/v1${queryString(query)}`;
  const { Data: { Consent: found, ...rest } } = consentsAnswer.parse(await getResource(flow, token, path));
  return { found, after: rest.After };
}

/**
 * Lists payments of this TPP at the flow's bank.
 *
 * @param token of the client credentials grant
 * @throws {ApiErrorResponse} if rejected; 429 beyond the limit of lists, by default 2 a second.
 */
export async function listPayments(
  flow: PaymentFlow,
  token: AccessToken,
  query: ListQuery = {},
): Promise<ListPage<ListedPayment>> {
  const path = `domestic-payments/v1${queryString(query)}`;
  const { Data: { Payment: found, ...rest } } = paymentsAnswer.parse(await getResource(flow, token, path));
  return { found, after: rest.After };
}

function queryString({ from, until, status, endToEndId, after }: ListQuery): string {
  const named = {
    from: from?.toISOString(),
    until: until?.toISOString(),
    status,
    "end-to-end-id": endToEndId,
    after,
  };
  const query = new URLSearchParams(
    Object.entries(named).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
  return query.size === 0 ? "" : `?${query}`;
}
