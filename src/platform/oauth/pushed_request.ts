/** A pushed authorization request: what the TPP asked for, fixed before the browser is involved. No I/O. */
import type { BankCode, ClientId, ConsentId } from "../../base/kernel/identifiers.ts";
import { isYetToPass } from "../../base/kernel/clock.ts";
import { REQUEST_URI_PREFIX, REQUEST_URI_SECONDS } from "../profile.ts";

/** The request behind a `request_uri`. */
export interface PushedRequest {
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly consentId: ConsentId;
  readonly redirectUri: string;
  readonly state?: string;
  readonly codeChallenge: string;
  readonly dpopJkt?: string;
  /** The customer's languages, best first; absent if the TPP named none. */
  readonly uiLocales?: readonly string[];
  /** Milliseconds; counts when the browser arrives, not afterwards. */
  readonly expiresAt: number;
  /** Set when a flow that it started came to its end: then it starts no other (FAPI 2.0 §5.3.2.2 note 3). */
  readonly completed: boolean;
  /** How many authorization sessions it has started; absent before the first one. */
  readonly sessions?: number;
}

const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/** The reference inside a `request_uri` of ours, or undefined. Nothing is ever fetched. */
export function referenceOf(requestUri: string): string | undefined {
  if (!requestUri.startsWith(REQUEST_URI_PREFIX)) return undefined;
  const reference = requestUri.slice(REQUEST_URI_PREFIX.length);
  return REFERENCE.test(reference) ? reference : undefined;
}

/** Whether the request can start a flow for this client at this bank now. */
export function canStart(
  request: PushedRequest,
  by: { clientId: string; bank: BankCode; now: number },
): boolean {
  return request.clientId === by.clientId && request.bank === by.bank &&
    isYetToPass(request.expiresAt, by.now, REQUEST_URI_SECONDS * 1000) &&
    !request.completed;
}
