/** A pushed authorization request. Its parameters are fixed before the browser is involved. No I/O. */
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import { isYetToPass, type WallTime } from "../../../base/kernel/clock.ts";
import { REQUEST_URI_PREFIX, REQUEST_URI_SECONDS } from "../../../base/profile.ts";

/** The request of a `request_uri`. */
export interface PushedRequest {
  readonly clientId: ClientId;
  /** Which registration of the client has pushed it. */
  readonly registration: number;
  readonly bank: BankCode;
  readonly consentId: ConsentId;
  readonly redirectUri: string;
  readonly state?: string;
  readonly codeChallenge: string;
  readonly dpopJkt?: string;
  /** The customer's languages, best first; absent if the TPP named none. */
  readonly uiLocales?: readonly string[];
  /** Milliseconds. Checked when the browser opens the link, not afterwards. */
  readonly expiresAt: WallTime;
  /** Set when one of its sessions has ended. It then starts no further session (FAPI 2.0 §5.3.2.2 note 3). */
  readonly completed: boolean;
  /** Number of authorization sessions that it has started. */
  readonly sessions: number;
}

const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/** Returns the reference in a `request_uri` of the platform, or undefined. A `request_uri` is never fetched. */
export function referenceOf(requestUri: string): string | undefined {
  if (!requestUri.startsWith(REQUEST_URI_PREFIX)) return undefined;
  const reference = requestUri.slice(REQUEST_URI_PREFIX.length);
  return REFERENCE.test(reference) ? reference : undefined;
}

/** Whether the request can now start a session for this client at this bank (contract AZ2). */
export function canStart(
  request: PushedRequest,
  by: { clientId: string; bank: BankCode; now: WallTime },
): boolean {
  return request.clientId === by.clientId && request.bank === by.bank &&
    isYetToPass(request.expiresAt, by.now, REQUEST_URI_SECONDS) &&
    !request.completed;
}

// `ui_locales` of an authorization request (OpenID Connect Core 1.0 §3.1.2.1; registered for OAuth): the customer's
// languages, best first, separated by spaces. It is only a preference, so unusable values are ignored and never
// rejected.

/** RFC 5646 §4.4.1: enough for every registered language, script, region and variant. */
const MAX_TAG_CHARACTERS = 35;
const MAX_TAGS = 8;
const TAG = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/;

/** Returns the first language tags, at most 8. */
export function readUiLocales(value: string | undefined): readonly string[] {
  const tags = (value ?? "").split(" ").filter((tag) => tag.length <= MAX_TAG_CHARACTERS && TAG.test(tag));
  return tags.slice(0, MAX_TAGS);
}
