/**
 * A domestic payment consent and its legal status changes. No I/O and no clock: the status of a consent depends on
 * the time at which it is read, because its deadlines apply even before they are recorded.
 */
import { isYetToPass, type WallTime } from "../../../base/kernel/clock.ts";
import type { Recorded } from "../../evidence/audit_trail.ts";
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import { instantOf } from "../../../base/kernel/date_time.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { AUTHORISE_WITHIN_SECONDS, FLOW_SECONDS, USE_WITHIN_SECONDS } from "../../../base/profile.ts";
import { evidencePlace } from "../../evidence/evidence.ts";
import { type Erased, type PersonalData, PRESENT, type Present } from "../../evidence/personal_data.ts";
import type { PaymentData } from "./initiation.ts";
import { covers } from "../../../base/values/money.ts";
import type { ReasonCode } from "../../../base/values/reason_codes.ts";

/** Contract CT1 to CT17. */
export type ConsentStatus = "AwaitingAuthorisation" | "Rejected" | "Authorized" | "Consumed";

/** The payment that the TPP asks the customer to consent to. */
export interface ConsentRequest extends PaymentData {
  readonly readRefundAccount?: "Yes" | "No" | undefined;
  readonly authorisation?: {
    readonly authorisationType: "Any" | "Single";
    /** Any ISO 8601 form with an offset, as `instantOf` parses it. Was in the future when decoded. */
    readonly completionDateTime?: string | undefined;
  } | undefined;
  /** Returned to the TPP and not used otherwise. */
  readonly scaSupportData?: {
    readonly requestedSCAExemptionType?: string | undefined;
    readonly appliedAuthenticationApproach?: "CA" | "SCA" | undefined;
    readonly referencePaymentOrderId?: string | undefined;
  } | undefined;
}

/** One of the payer's accounts, as the bank reported it. Without a currency it has the consent's. */
export interface PayerAccount {
  readonly schemeName: string;
  readonly identification: string;
  readonly balance?: string | undefined;
  readonly currency?: string | undefined;
  readonly secondaryIdentification?: string | undefined;
}

/** The bank's report about the payer. */
export interface Payer {
  /** The bank's opaque id of the customer. */
  readonly sub: string;
  /** Numbers of the history entries with the bank's reports. `payer_accounts_store.ts` reads the accounts of the last one. */
  readonly reports: readonly number[];
  /** The one account that was chosen on the bank's own screen. */
  readonly accounts?: readonly PayerAccount[];
}

/** A consent as stored. Read it through {@link asOf}. */
export interface Consent extends Recorded {
  readonly id: ConsentId;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly request: ConsentRequest;
  readonly status: ConsentStatus;
  /** Why it is `Rejected` (contract RSN2). */
  readonly statusReasonCode?: ReasonCode;
  /** Milliseconds. */
  readonly createdAt: WallTime;
  /** Milliseconds. */
  readonly statusUpdatedAt: WallTime;
  /** Milliseconds. After it, an unauthorised consent is rejected. */
  readonly authoriseBy: WallTime;
  /** The customer was sent to the bank. */
  readonly sentToBank?: true;
  /** When each authorization session whose customer is at the bank expires (milliseconds), by correlation id. */
  readonly sessionsAtBank?: Readonly<Record<string, WallTime>>;
  readonly payer?: Payer;
  readonly selectedAccount?: PayerAccount;
  /** Once it was erased, the consent does not exist for participants. */
  readonly personalData: PersonalData;
}

/** A consent with its personal data. */
export type ReadableConsent = Present<Consent>;

/** A consent that has lost its personal data. */
export type ErasedConsent = Consent & { readonly personalData: Erased };

/** The changes of a consent after its creation. */
export type ConsentMove =
  | "authorise"
  | "reject"
  | "consume"
  /** The store was restored, and the consent may have been used in the time that is lost (Decision G9). */
  | "void"
  /** The bank has the payment of this consent that the restored store had lost (Decision G9). */
  | "recover";

/** Contract CT5 to CT17: from -> change -> to. A change that is not listed is illegal. */
const MOVES: Readonly<Record<ConsentStatus, Partial<Record<ConsentMove, ConsentStatus>>>> = {
  AwaitingAuthorisation: { authorise: "Authorized", reject: "Rejected", recover: "Consumed" }, // contract CT5 to CT11
  Authorized: { consume: "Consumed", void: "Rejected", recover: "Consumed" }, // contract CT14
  Rejected: { recover: "Consumed" }, // contract CT16, except after a restore
  Consumed: {}, // contract CT16
};

/** Returns a new consent (contract CT1). `now` is in milliseconds. */
export function openConsent(
  given: Pick<Consent, "id" | "clientId" | "bank" | "request">,
  now: WallTime,
): ReadableConsent {
  const completion = given.request.authorisation?.completionDateTime;
  const wanted = completion === undefined ? undefined : instantOf(completion);
  const latest = now + AUTHORISE_WITHIN_SECONDS * 1000;
  return {
    ...given,
    status: "AwaitingAuthorisation",
    createdAt: now,
    statusUpdatedAt: now,
    authoriseBy: Math.min(wanted ?? latest, latest), // Decision C1
    personalData: PRESENT,
  };
}

/**
 * Returns the consent at `now`. A passed deadline has rejected it, at the time of the deadline (contract CT12, CT15).
 */
export function asOf<C extends Consent>(consent: C, now: WallTime): C {
  const deadline = deadlineOf(consent);
  if (deadline === undefined || now < deadline) return consent;
  const statusReasonCode = consent.status === "Authorized" ? "CONSENT_NOT_USED" : "DS24"; // contract RSN2
  return { ...consent, status: "Rejected", statusReasonCode, statusUpdatedAt: deadline };
}

/** Whether the TPP named the payer's account. Then there is no choice of account and no consent screen. */
export function isImplicit(consent: ReadableConsent): boolean {
  return consent.request.initiation.debtorAccount !== undefined;
}

/**
 * Returns the consent after a change.
 *
 * @throws {ApiError} `resource.invalid_consent_status` if the change is not legal at `now`
 */
export function moveConsent<C extends Consent>(
  consent: C,
  move: Exclude<ConsentMove, "reject">,
  now: WallTime,
): C {
  return move === "void" ? endConsent(consent, move, now, "CONSENT_VOIDED") : after(consent, move, now);
}

/**
 * Returns the consent after its rejection for a reason (contract RSN2).
 *
 * @throws {ApiError} as {@link moveConsent}
 */
export function rejectConsent<C extends Consent>(consent: C, code: ReasonCode, now: WallTime): C {
  return endConsent(consent, "reject", now, code);
}

function endConsent<C extends Consent>(
  consent: C,
  move: "reject" | "void",
  now: WallTime,
  code: ReasonCode,
): C {
  return { ...after(consent, move, now), statusReasonCode: code };
}

function after<C extends Consent>(consent: C, move: ConsentMove, now: WallTime): C {
  const { statusReasonCode: _, ...current } = asOf(consent, now);
  const status = MOVES[current.status][move];
  if (status === undefined) throw wrongStatus(move, current.status, statusesBefore(move));
  return { ...current, status, statusUpdatedAt: now } as C; // the code is optional
}

/**
 * Returns the consent with the bank's report (contract CT4). The last report wins.
 *
 * @throws {ApiError} `resource.invalid_consent_status` unless it awaits authorisation
 */
export function withPayer<C extends Consent>(
  consent: C,
  reported: Pick<Payer, "sub" | "accounts">,
  now: WallTime,
): C & { readonly payer: Payer } {
  const current = asOf(consent, now);
  if (current.status !== "AwaitingAuthorisation") {
    throw wrongStatus("payer accounts", current.status, ["AwaitingAuthorisation"]);
  }
  return {
    ...current,
    payer: { ...reported, reports: [...current.payer?.reports ?? [], (current.sequence ?? 0) + 1] },
  };
}

function statusesBefore(move: ConsentMove): readonly string[] {
  return Object.entries(MOVES).filter(([, moves]) => Object.hasOwn(moves, move)).map(([status]) => status);
}

/** Returns the rejection of a request that needs another status. `attempt` is for the log. */
export function wrongStatus(attempt: string, status: ConsentStatus, needed: readonly string[]): ApiError {
  const message = `The consent's status must be ${needed.join(" or ")}; it is ${status}.`;
  return invalidStatus(message, `${attempt} while ${status}`);
}

/**
 * Returns the rejection of a request that the consent's status does not allow.
 *
 * @param message for the caller
 * @param detail for the log
 */
export function invalidStatus(message: string, detail: string): ApiError {
  const fault = { code: "Resource.InvalidConsentStatus", message } as const;
  return new ApiError("resource.invalid_consent_status", { detail, faults: [fault] });
}

/** Returns when the consent expires, in milliseconds, or undefined if it cannot expire any more. */
export function deadlineOf(consent: Consent): number | undefined {
  if (consent.status === "AwaitingAuthorisation") return consent.authoriseBy;
  if (consent.status === "Authorized") return consent.statusUpdatedAt + USE_WITHIN_SECONDS * 1000;
  return undefined;
}

// Funds confirmation (contract EP8) from the selected account's last known balance. Never changes the consent.

/**
 * Returns whether the balance covers the amount, or undefined if no balance is known or it is in another currency
 * (Decision C8).
 *
 * @throws {ApiError} `resource.invalid_consent_status` unless the consent is `Authorized`
 */
export function confirmFunds(consent: ReadableConsent): boolean | undefined {
  if (consent.status !== "Authorized") {
    throw wrongStatus("funds confirmation", consent.status, ["Authorized"]);
  }
  const { amount, currency } = consent.request.initiation.instructedAmount;
  const account = consent.selectedAccount;
  if (account?.balance === undefined) return undefined;
  if ((account.currency ?? currency) !== currency) return undefined;
  return covers(account.balance, amount);
}

/** Whether the bank may know of the consent. */
export function wasAtBank({ status, sentToBank }: Consent): boolean {
  return status === "Authorized" || sentToBank === true;
}

// The authorization sessions of a consent whose customers are at the bank. Only then may the bank report accounts
// (Decision C11). The bank's return removes the session and fixes the accounts that the bank reported (Decision G2).

/**
 * Limit of the stored sessions. Without one of them, the accounts of the oldest one are fixed when a newer session ends.
 */
const MAX_SESSIONS_AT_BANK = 20;

/** The stored sessions of a consent. Some may have expired. */
export type AtBank = Pick<Consent, "sessionsAtBank">;

/** Whether a customer is at the bank. `now` is in milliseconds. */
export function isAtBank({ sessionsAtBank = {} }: AtBank, now: WallTime): boolean {
  return Object.values(sessionsAtBank).some((time) => isYetToPass(time, now, FLOW_SECONDS));
}

/** Returns the sessions after one more customer is sent to the bank. Times are in milliseconds. */
export function withSession(
  { sessionsAtBank = {} }: AtBank,
  { correlationId, expiresAt }: { readonly correlationId: string; readonly expiresAt: WallTime },
  now: WallTime,
): AtBank {
  const open = Object.entries(sessionsAtBank).filter(([, time]) => now < time);
  return {
    sessionsAtBank: Object.fromEntries([...open, [correlationId, expiresAt]].slice(-MAX_SESSIONS_AT_BANK)),
  };
}

/** Returns the sessions after the bank has redirected this one's customer back. */
export function withoutSession({ sessionsAtBank = {} }: AtBank, correlationId: string): AtBank {
  const { [correlationId]: _, ...others } = sessionsAtBank;
  return { sessionsAtBank: others };
}

/** Whether a change decides the consent. */
export function isSettled(former: Consent, changed: Consent): boolean {
  return former.status === "AwaitingAuthorisation" && changed.status !== former.status;
}

/** Whether a change ends a consent that was never authorised. */
export function isNeverAuthorised(former: Consent, changed: Consent): boolean {
  return isSettled(former, changed) && changed.status === "Rejected";
}

// Removes personal data that the status of a consent does not need any more (contract EN9). No I/O.

/**
 * Returns the consent as it is stored: after the decision without what the bank reported of the payer, and after its use
 * or rejection without the balance of the chosen one, which funds confirmations read until then.
 */
export function minimiseConsent(consent: Consent): Consent {
  const { payer: _, sessionsAtBank: _ended, selectedAccount, ...rest } = consent;
  if (rest.status === "AwaitingAuthorisation") return consent;
  if (selectedAccount === undefined) return rest;
  const account = rest.status === "Authorized" ? selectedAccount : withoutBalance(selectedAccount);
  return { ...rest, selectedAccount: account };
}

/**
 * Returns the places of the bank's reports that a decision deletes: all, except one that has only the chosen account and
 * no balance.
 */
export function reportsToDelete(former: Consent, changed: Consent): readonly string[] {
  const { payer } = former;
  if (!isSettled(former, changed)) return [];
  const [account, ...more] = payer?.accounts ?? [];
  const isMinimal = account !== undefined && more.length === 0 && account.balance === undefined;
  const keeps = isMinimal && changed.status === "Authorized";
  const deleted = (payer?.reports ?? []).slice(0, keeps ? -1 : undefined);
  return deleted.map((sequence) => evidencePlace(former.id, sequence, "payer_accounts"));
}

/**
 * Returns a consent that was never authorised without the data of its customer: amount and currency stay of the request.
 *
 * @param at milliseconds
 */
export function eraseCustomer(
  { payer: _, request, ...consent }: Consent,
  at: WallTime,
  scope: Exclude<Erased["scope"], "key">,
): ErasedConsent {
  const { instructedAmount } = request.initiation;
  // Participants cannot read it any more, so no code needs the required members.
  const initiation = { instructedAmount } as Consent["request"]["initiation"];
  return {
    ...consent,
    request: { initiation, risk: {} as Consent["request"]["risk"] },
    personalData: { state: "erased", at, scope },
  };
}

function withoutBalance({ balance: _, ...account }: PayerAccount): PayerAccount {
  return account;
}
