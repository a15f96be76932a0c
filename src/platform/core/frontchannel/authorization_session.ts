/**
 * An authorization session: the path of one browser from the TPP's link through the bank and back to the TPP. This
 * file decides from plain data which step comes next. `finish_authentication.ts` and `decide_consent.ts` execute the
 * steps. No I/O.
 */
import {
  type Consent,
  isImplicit,
  type Payer,
  type PayerAccount,
  type ReadableConsent,
} from "../consents/consent.ts";
import { ungroup } from "../../../base/values/account.ts";
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import { covers } from "../../../base/values/money.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import type { Parties } from "../../../base/values/parties.ts";
import { isYetToPass, type WallTime } from "../../../base/kernel/clock.ts";
import { FLOW_SECONDS, LATE_CUSTOMER_SECONDS } from "../../../base/profile.ts";
import type { ReasonCode } from "../../../base/values/reason_codes.ts";
import type { BankResult } from "./result_jwt.ts";

/**
 * The stage of the customer's browser. `delivered`: the bank has delivered its result on the back channel, and the
 * browser has not gone on yet.
 */
export type SessionStage = "at_bank" | "delivered" | "deciding" | "finished";

export interface AuthorizationSession {
  readonly correlationId: string;
  readonly stage: SessionStage;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly consentId: ConsentId;
  /** Hash of the pushed request's reference. That request is completed together with the session. */
  readonly requestHash: string;
  /** Hash of the secret in the browser's cookie. */
  readonly bindingHash: string;
  /** The value of `debtor_account_present` that was sent to the bank. */
  readonly debtorAccountPresent: boolean;
  /** The value of `transaction_digest` that was sent to the bank. Absent if the case was erased or its data key is lost. */
  readonly transactionDigest?: string;
  /** The customer's languages from the TPP's request, best first; absent if it named none. */
  readonly uiLocales?: readonly string[];
  /**
   * Set from the bank's result on, if it had reported accounts: those that it had reported by then. The screen offers
   * these accounts. Later reports do not change them.
   */
  readonly payer?: Payer;
  /** SHA-256 of the result JWT that counts, base64url: the first one, on whichever channel it came. */
  readonly resultSha256?: string;
  /** Set while `delivered`. */
  readonly result?: DeliveredResult;
  /** Set while the customer decides: the TPP and the bank as the screen names them until the decision. */
  readonly parties?: Parties;
  /** Milliseconds; 900 s after the first page. The session is stored longer: see {@link keptUntil}. */
  readonly expiresAt: WallTime;
  /**
   * Set when finished: the next URL (encrypted), until when (milliseconds) the browser may be sent there again, and
   * the decision. The decision is absent if the session had expired or the consent had been decided before.
   */
  readonly outcome?: { readonly sealed: string; readonly until: WallTime; readonly accepted?: boolean };
}

/** A session that begins. */
export type OpenedSession = AuthorizationSession & Required<Pick<AuthorizationSession, "transactionDigest">>;

/** A result of the bank that waits for the browser that began the session. */
export interface DeliveredResult extends BankResult {
  /** The JWT that the bank signed, and the document of the key that verifies it, for the history. */
  readonly jws: string;
  readonly key?: string;
}

/** Whether the session has expired and can no longer authorize a consent. `now` is in milliseconds. */
export function isLate({ expiresAt }: AuthorizationSession, now: WallTime): boolean {
  return !isYetToPass(expiresAt, now, FLOW_SECONDS);
}

/**
 * Returns until when (milliseconds) the session is stored, so that a late customer gets back to the TPP (Decision
 * G1).
 */
export function keptUntil({ expiresAt }: AuthorizationSession): number {
  return expiresAt + LATE_CUSTOMER_SECONDS * 1000;
}

/**
 * Why a customer returns to the TPP without a code. `tpp_redirect.ts` maps each to an error code and a description.
 */
export type AuthorizationError =
  | "access_denied"
  | "insufficient_funds"
  | "session_expired"
  | "server_error"
  | "invalid_request"
  | "opened_too_often"
  | "temporarily_unavailable";

/** The next step: an end with or without a code, or the platform's consent screen. */
export type Step =
  | { readonly kind: "authorise"; readonly chosen?: ChosenAccount; readonly reason: string }
  /** `fault` says what was wrong with the bank's result, for the bank. */
  | {
    readonly kind: "reject";
    readonly error: AuthorizationError;
    /** Of the reason; absent if the error says it all (contract RSN4). */
    readonly code?: ReasonCode;
    readonly reason: string;
    readonly fault?: Mismatch;
  }
  /** The session ends and the consent does not change. */
  | {
    readonly kind: "leave";
    readonly error: AuthorizationError;
    readonly code?: ReasonCode;
    readonly reason: string;
  }
  | { readonly kind: "ask"; readonly payer: Payer; readonly reason: string };

/** The account to pay from and its owner. */
export interface ChosenAccount {
  readonly payer: Payer;
  readonly account: PayerAccount;
}

/**
 * Whether the customer may choose the account. A low balance does not prevent it, because the bank decides about
 * overdrafts (Decision G3).
 */
export function canPay(account: PayerAccount, consent: ReadableConsent): boolean {
  const { currency } = consent.request.initiation.instructedAmount;
  return (account.currency ?? currency) === currency;
}

/** Returns why the account cannot be chosen, or a warning to show with it, or undefined if neither applies. */
export function accountNotice(
  account: PayerAccount,
  consent: ReadableConsent,
): "other_currency" | "insufficient_funds" | undefined {
  if (!canPay(account, consent)) return "other_currency";
  const { amount } = consent.request.initiation.instructedAmount;
  return account.balance !== undefined && !covers(account.balance, amount) ? "insufficient_funds" : undefined;
}

/**
 * Returns the step if the consent no longer awaits authorisation, because its deadline has passed or another session
 * has decided it. Returns undefined while it awaits authorisation.
 */
export function stepIfOvertaken(consent: Consent): Extract<Step, { kind: "leave" }> | undefined {
  if (consent.status === "AwaitingAuthorisation") return undefined;
  const reason = "consent decided before";
  return consent.statusUpdatedAt === consent.authoriseBy
    ? { kind: "leave", error: "access_denied", code: "DS24", reason }
    : { kind: "leave", error: "invalid_request", reason };
}

/**
 * Returns the step after the session has expired (Decision G1): no consent is authorized, and the consent still
 * awaits authorisation, so that the TPP can push a new request.
 */
export function expiredStep(reason: string): Extract<Step, { kind: "leave" }> {
  return { kind: "leave", error: "session_expired", reason };
}

/** Returns the step after the bank's authentic result (Decisions B3, B4; contract CT5 to CT10). */
export function stepAfterBank(
  result: BankResult,
  consent: ReadableConsent,
  consentManagedByBank: boolean,
): Step {
  if (result.outcome === "failure") {
    const error = result.isShortOfFunds ? "insufficient_funds" : "access_denied";
    return reject(error, "bank: failure", result.reasonCode);
  }
  if (result.outcome === "unknown") {
    return unusableStep("bank: unknown status_code", STATUS_CODE, result.statusCode);
  }
  if (result.sub === undefined) return unusableStep("bank: no acceptable sub", SUB);
  if (isDebtorAccount(result.sub, consent)) return unusableStep("bank: sub is the account number", SUB);
  const reason = "bank: success"; // its own words may name a person: they are in the evidence (contract EN12)
  if (isImplicit(consent)) return { kind: "authorise", reason };
  const { payer } = consent;
  if (payer === undefined) return unusableStep("bank: success without payer accounts", ACCOUNTS);
  // One customer's accounts must never be shown to or chosen for another customer.
  if (payer.sub !== result.sub) return unusableStep("bank: another customer's accounts", SAME_SUB);
  if (!consentManagedByBank) return { kind: "ask", payer, reason };
  const [account, ...more] = payer.accounts ?? [];
  if (account === undefined || more.length > 0) {
    return unusableStep("bank: not exactly one account", ONE_ACCOUNT);
  }
  return { kind: "authorise", chosen: { payer, account }, reason };
}

const STATUS_CODE: Mismatch = { at: "status_code", expected: "success, 200, failure or insufficient_funds" };
const SUB: Mismatch = { at: "sub", expected: "1 to 255 characters that are not an account number" };
const SAME_SUB: Mismatch = { at: "sub", expected: "the Data.Sub of the reported accounts" };
const ACCOUNTS: Mismatch = {
  at: "the payer's accounts",
  expected: "reported on the back channel before a success",
};
const ONE_ACCOUNT: Mismatch = { at: "the payer's accounts", expected: "exactly one, which the payer chose" };

/** The session ends with `server_error`, because the customer cannot mend the bank's result. */
function unusableStep(reason: string, fault: Mismatch, received?: string): Step {
  const told = received === undefined ? fault : { ...fault, received };
  return { kind: "reject", error: "server_error", reason, fault: told };
}

/** "Must not be an account number" (contract RT8, claim `sub`), whatever the scheme of the consent's account. */
function isDebtorAccount(sub: string, consent: ReadableConsent): boolean {
  const account = consent.request.initiation.debtorAccount;
  return [account?.identification, account?.secondaryIdentification].some((number) =>
    number !== undefined && ungroup(number) === ungroup(sub)
  );
}

/**
 * Returns the step after the customer's decision on the platform's screen, or undefined if the choice is not
 * possible.
 */
export function stepAfterDecision(
  decision: { readonly accepted: boolean; readonly accountIndex: number | undefined },
  { payer, accounts }: { readonly payer: Payer | undefined; readonly accounts: readonly PayerAccount[] },
  consent: ReadableConsent,
): Exclude<Step, { kind: "ask" }> | undefined {
  if (!decision.accepted) return reject("access_denied", "customer rejected", "CUST");
  const account = decision.accountIndex === undefined ? undefined : accounts[decision.accountIndex];
  if (payer === undefined || account === undefined || !canPay(account, consent)) {
    return undefined;
  }
  return { kind: "authorise", chosen: { payer, account }, reason: "customer accepted" };
}

function reject(
  error: AuthorizationError,
  reason: string,
  code: ReasonCode | undefined,
): Extract<Step, { kind: "reject" }> {
  return { kind: "reject", error, reason, ...(code === undefined ? {} : { code }) };
}
