/**
 * An interaction: one browser's way from the TPP's link through the bank and back. Which step comes next is decided
 * here, from plain data; the steps themselves are in `finish_authentication.ts` and `decide_consent.ts`. No I/O.
 */
import { type Consent, isImplicit, type Payer, type PayerAccount } from "../consents/consent.ts";
import { ungrouped } from "../../base/values/account.ts";
import type { BankCode, ClientId, ConsentId } from "../../base/kernel/identifiers.ts";
import { covers } from "../../base/values/money.ts";
import { isYetToPass } from "../../base/kernel/clock.ts";
import { FLOW_SECONDS, LATE_CUSTOMER_SECONDS } from "../profile.ts";
import type { ConsentFacts } from "../../pages/consent_facts.tsx";
import type { ScaResult } from "./sca_response.ts";

/** Where the customer is. */
export type SessionStage = "at_bank" | "deciding" | "finished";

/** An interaction as stored. */
export interface AuthorizationSession {
  readonly correlationId: string;
  readonly stage: SessionStage;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly consentId: ConsentId;
  /** Hash of the pushed request's reference: that request is completed with the interaction. */
  readonly requestHash: string;
  /** Hash of the secret in the browser's cookie. */
  readonly bindingHash: string;
  /** What the bank was told in `debtor_account_present`. */
  readonly debtorAccountPresent: boolean;
  /** The customer's languages as the TPP named them, best first; absent if it named none. */
  readonly uiLocales?: readonly string[];
  /**
   * While deciding: what the bank had reported when it sent this customer back. The screen offers the accounts of this
   * report. Later reports do not change it.
   */
  readonly payer?: Payer;
  /** While deciding: who asks and at which bank, as the screen names them until the decision. */
  readonly parties?: Parties;
  /** Milliseconds; 900 s from the first page. It is kept for longer: see {@link keptUntil}. */
  readonly expiresAt: number;
  /**
   * Once finished: where its browser was sent, until when (milliseconds) it may be sent there again, and what was
   * decided. Nothing was decided if the session had expired, or if the consent had been decided before.
   */
  readonly outcome?: { readonly sealed: string; readonly until: number; readonly accepted?: boolean };
}

/** Whether the session has expired and can authorize nothing any more. `now` in milliseconds. */
export function isLate({ expiresAt }: AuthorizationSession, now: number): boolean {
  return !isYetToPass(expiresAt, now, FLOW_SECONDS * 1000);
}

/** Until when (milliseconds) the session exists, so that a late customer gets back to the TPP (Decision G1). */
export function keptUntil({ expiresAt }: AuthorizationSession): number {
  return expiresAt + LATE_CUSTOMER_SECONDS * 1000;
}

/** Who asks, and at which bank. */
export type Parties = Pick<ConsentFacts, "tpp" | "bank">;

/** Why a customer comes back to the TPP without a code; `tpp_redirect.ts` has the error code and the words of each. */
export type AuthorizationError =
  | "access_denied"
  | "insufficient_funds"
  | "session_expired"
  | "server_error"
  | "invalid_request"
  | "opened_too_often"
  | "temporarily_unavailable";

/** What happens next: an end, good or bad, or the platform's consent screen. */
export type Step =
  | { readonly kind: "authorise"; readonly chosen?: ChosenAccount; readonly reason: string }
  | { readonly kind: "reject"; readonly error: AuthorizationError; readonly reason: string }
  /** The session ends and the consent stays as it is. */
  | { readonly kind: "leave"; readonly error: AuthorizationError; readonly reason: string }
  | { readonly kind: "ask"; readonly payer: Payer; readonly reason: string };

/** The account to pay from, and whose it is. */
export interface ChosenAccount {
  readonly payer: Payer;
  readonly account: PayerAccount;
}

/** Whether the customer may choose the account. A low balance is no obstacle: the bank decides about overdrafts (Decision G3). */
export function canPay(account: PayerAccount, consent: Consent): boolean {
  const { Currency } = consent.request.Data.Initiation.InstructedAmount;
  return (account.Currency ?? Currency) === Currency;
}

/** Why the account cannot be chosen, or what the customer is warned of; undefined if neither applies. */
export function accountNotice(
  account: PayerAccount,
  consent: Consent,
): "other_currency" | "insufficient_funds" | undefined {
  if (!canPay(account, consent)) return "other_currency";
  const { Amount } = consent.request.Data.Initiation.InstructedAmount;
  return account.Balance !== undefined && !covers(account.Balance, Amount) ? "insufficient_funds" : undefined;
}

/**
 * The step if the consent does not await authorisation any more: its deadline has passed, or it was decided by another
 * session. Undefined while it does.
 */
export function overtaken(consent: Consent): Extract<Step, { kind: "leave" }> | undefined {
  if (consent.status === "AwaitingAuthorisation") return undefined;
  const error = consent.statusUpdatedAt === consent.authoriseBy ? "access_denied" : "invalid_request";
  return { kind: "leave", error, reason: "consent decided before" };
}

/**
 * The step after the session has expired (Decision G1): nothing is authorized, and the consent still awaits
 * authorisation, so that the TPP can push a new request.
 */
export function expired(reason: string): Extract<Step, { kind: "leave" }> {
  return { kind: "leave", error: "session_expired", reason };
}

/** The step after the bank's authentic answer (Decisions B3, B4; contract CT5 to CT10). */
export function stepAfterBank(result: ScaResult, consent: Consent, consentManagedByBank: boolean): Step {
  if (result.outcome === "failure") {
    return reject(result.isShortOfFunds ? "insufficient_funds" : "access_denied", `bank: ${result.status}`);
  }
  if (result.outcome === "unknown") {
    return reject("server_error", `bank: unknown status_code, ${result.status}`);
  }
  if (result.sub === undefined) return reject("server_error", "bank: no acceptable sub");
  if (isDebtorAccount(result.sub, consent)) return reject("server_error", "bank: sub is the account number");
  const reason = `bank: ${result.status}`;
  if (isImplicit(consent)) return { kind: "authorise", reason };
  const { payer } = consent;
  if (payer === undefined) return reject("server_error", "bank: success without payer accounts");
  // One person's accounts must never be shown to, or chosen for, another.
  if (payer.sub !== result.sub) return reject("server_error", "bank: another customer's accounts");
  if (!consentManagedByBank) return { kind: "ask", payer, reason };
  const [account, ...more] = payer.accounts ?? [];
  if (account === undefined || more.length > 0) {
    return reject("server_error", "bank: not exactly one account");
  }
  return { kind: "authorise", chosen: { payer, account }, reason };
}

/** "Must not be an account number" (contract RT8, claim `sub`), in whatever scheme the consent's account is. */
function isDebtorAccount(sub: string, consent: Consent): boolean {
  const account = consent.request.Data.Initiation.DebtorAccount;
  return [account?.Identification, account?.SecondaryIdentification].some((number) =>
    number !== undefined && ungrouped(number) === ungrouped(sub)
  );
}

/** The step after the customer's decision on the platform's screen; undefined where the choice is not possible. */
export function stepAfterDecision(
  decision: { readonly accepted: boolean; readonly accountIndex: number | undefined },
  { payer, accounts }: { readonly payer: Payer | undefined; readonly accounts: readonly PayerAccount[] },
  consent: Consent,
): Step | undefined {
  if (!decision.accepted) return reject("access_denied", "customer rejected");
  const account = decision.accountIndex === undefined ? undefined : accounts[decision.accountIndex];
  if (payer === undefined || account === undefined || !canPay(account, consent)) {
    return undefined;
  }
  return { kind: "authorise", chosen: { payer, account }, reason: "customer accepted" };
}

function reject(error: AuthorizationError, reason: string): Step {
  return { kind: "reject", error, reason };
}
