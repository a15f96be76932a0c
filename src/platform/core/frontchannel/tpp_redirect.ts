/**
 * The redirect to the TPP at the end of a session: its verified redirect_uri with a response (RFC 6749 §4.1.2; RFC
 * 9207).
 */
import type { ApiErrorParts } from "../../../base/kernel/api_error.ts";
import type { ReasonCode } from "../../../base/values/reason_codes.ts";
import type { Client } from "../registration/client.ts";
import { type Inactive, whyInactive } from "../../guards/security/standing.ts";
import type { AuthorizationError } from "./authorization_session.ts";

/** Destination and common parameters of every response. */
export interface TppAddress {
  /** The redirect_uri of the pushed request, which is registered. */
  readonly redirectUri: string;
  readonly state?: string;
  /** The bank's issuer, also in errors (RFC 9207 §2). */
  readonly issuer: string;
}

/**
 * The error code (contract AZ9; RFC 6749 §4.1.2.1) and a generic description. The exact reason is in the consent's
 * history and not in the browser's.
 */
const ERROR: Readonly<Record<AuthorizationError, readonly [code: string, description: string]>> = {
  access_denied: ["access_denied", "The customer or the bank rejected the consent."],
  insufficient_funds: ["access_denied", "The bank reported insufficient funds."], // Decision G7
  session_expired: ["access_denied", "The authorization session expired."], // Decision G1
  server_error: ["server_error", "The bank's answer could not be used."],
  invalid_request: ["invalid_request", "The consent does not await authorisation any more."],
  opened_too_often: ["invalid_request", "The request_uri was opened too often. Push a new request."],
  temporarily_unavailable: ["temporarily_unavailable", "The bank cannot be reached at the moment."],
};

/** The code of an error's reason, if nothing more exact is known (contract RSN4). */
const REASON: Readonly<Record<AuthorizationError, ReasonCode>> = {
  access_denied: "MS03",
  insufficient_funds: "AM04",
  session_expired: "SESSION_EXPIRED",
  server_error: "BANK_RESULT_UNUSABLE",
  invalid_request: "CONSENT_DECIDED",
  opened_too_often: "LINK_OPENED_TOO_OFTEN",
  temporarily_unavailable: "BANK_UNAVAILABLE",
};

/** Why an authorization ends without a code. */
export interface AuthorizationEnd {
  readonly error: AuthorizationError;
  /** Absent if the error says it all. */
  readonly code?: ReasonCode;
}

/** Returns the code of the reason, for the redirect and for the consent. */
export function reasonCodeOf({ error, code = REASON[error] }: AuthorizationEnd): ReasonCode {
  return code;
}

/** Returns the URL of a success (contract AZ6). */
export function successUrl(to: TppAddress, code: string): string {
  return withParameters(to, { code });
}

/** Returns the URL of a failure (contract AZ7, RE1; Decision B5). */
export function errorUrl(to: TppAddress, end: AuthorizationEnd): string {
  const [error, description] = ERROR[end.error];
  return withParameters(to, { error, error_description: description, reason_code: reasonCodeOf(end) });
}

/** Returns a link to the TPP's own page, for error pages that may not redirect. */
export function backTo(tpp: Client | null): Pick<ApiErrorParts, "tpp"> {
  if (tpp?.clientUri === undefined) return {};
  return { tpp: { clientId: tpp.clientId, name: tpp.orgName, uri: tpp.clientUri } };
}

/** Returns the languages that a TPP asked for, for error pages. */
export function languagesOf(
  { uiLocales }: { readonly uiLocales?: readonly string[] },
): Pick<ApiErrorParts, "uiLocales"> {
  return uiLocales === undefined ? {} : { uiLocales };
}

/** Returns the URL of a failure because the bank or the TPP is inactive (Decision G5), temporarily or permanently. */
export function inactiveUrl(to: TppAddress, who: "bank" | "TPP", standing: Inactive): string {
  const isOver = standing === "withdrawn" || standing === "deregistered";
  const error = isOver ? "access_denied" : "temporarily_unavailable";
  const reason_code: ReasonCode = who === "bank"
    ? isOver ? "BANK_WITHDRAWN" : "BANK_NOT_ACTIVE"
    : isOver
    ? "TPP_WITHDRAWN"
    : "TPP_NOT_ACTIVE";
  return withParameters(to, { error, error_description: whyInactive(who, standing), reason_code });
}

// The redirect_uri's own query stays unchanged, byte for byte (contract AZ8; RFC 6749 §3.1.2).
function withParameters(to: TppAddress, answer: Record<string, string>): string {
  const state = to.state === undefined ? {} : { state: to.state };
  const parameters = new URLSearchParams({ ...answer, ...state, iss: to.issuer });
  return `${to.redirectUri}${to.redirectUri.includes("?") ? "&" : "?"}${parameters}`;
}
