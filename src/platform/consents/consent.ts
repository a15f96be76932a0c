/**
 * A domestic payment consent and its legal moves. No I/O and no clock of its own: what a consent is depends on the
 * time it is looked at, since its deadlines count whether or not anyone writes them down.
 */
import type { BankCode, ClientId, ConsentId } from "../../base/kernel/identifiers.ts";
import { instantOf } from "../../base/kernel/date_time.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { AUTHORISE_WITHIN_SECONDS, USE_WITHIN_SECONDS } from "../profile.ts";
import type { ConsentRequest } from "./consent_schema.ts";

/** Contract CT1 to CT17. */
export type ConsentStatus = "AwaitingAuthorisation" | "Rejected" | "Authorized" | "Consumed";

/** One of the payer's accounts, as the bank reported it. */
export interface PayerAccount {
  readonly SchemeName: string;
  readonly Identification: string;
  readonly Balance?: string | undefined;
  readonly Currency?: string | undefined;
  readonly SecondaryIdentification?: string | undefined;
}

/** What the bank reported about the payer. */
export interface Payer {
  /** The bank's opaque name for the customer. */
  readonly sub: string;
  /** Which of the bank's reports on this consent it is, from 1. `payer_accounts_store.ts` reads its accounts. */
  readonly report?: number;
  /** The one account that was chosen on the bank's own screen. Older records hold every reported list here. */
  readonly accounts?: readonly PayerAccount[];
}

/** A consent as stored. Read it through {@link asOf}. */
export interface Consent {
  readonly id: ConsentId;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly request: ConsentRequest;
  readonly status: ConsentStatus;
  /** Milliseconds. */
  readonly createdAt: number;
  /** Milliseconds. */
  readonly statusUpdatedAt: number;
  /** Milliseconds; after it, an unauthorised consent is rejected. */
  readonly authoriseBy: number;
  readonly payer?: Payer;
  readonly selectedAccount?: PayerAccount;
}

/** What can happen to a consent after its creation. */
export type ConsentMove =
  | "authorise"
  | "reject"
  | "consume"
  /** The store was restored: the consent may have been used in the time that is lost (Decision G9). */
  | "void"
  /** The bank holds the payment of this consent that the restored store had lost (Decision G9). */
  | "recover";

/** Contract CT5 to CT17: from -> move -> to. What is absent is not legal. */
const MOVES: Readonly<Record<ConsentStatus, Partial<Record<ConsentMove, ConsentStatus>>>> = {
  AwaitingAuthorisation: { authorise: "Authorized", reject: "Rejected", recover: "Consumed" }, // contract CT5 to CT11
  Authorized: { consume: "Consumed", void: "Rejected", recover: "Consumed" }, // contract CT14
  Rejected: { recover: "Consumed" }, // contract CT16, but for a restore
  Consumed: {}, // contract CT16
};

/** A new consent (contract CT1); `now` in milliseconds. */
export function openConsent(
  given: Pick<Consent, "id" | "clientId" | "bank" | "request">,
  now: number,
): Consent {
  const completion = given.request.Data.Authorisation?.CompletionDateTime;
  const wanted = completion === undefined ? undefined : instantOf(completion);
  const latest = now + AUTHORISE_WITHIN_SECONDS * 1000;
  return {
    ...given,
    status: "AwaitingAuthorisation",
    createdAt: now,
    statusUpdatedAt: now,
    authoriseBy: Math.min(wanted ?? latest, latest), // Decision C1
  };
}

/** The consent as it stands at `now`: a passed deadline has rejected it, at the deadline (contract CT12, CT15). */
export function asOf(consent: Consent, now: number): Consent {
  const deadline = deadlineOf(consent);
  return deadline === undefined || now < deadline
    ? consent
    : { ...consent, status: "Rejected", statusUpdatedAt: deadline };
}

/** Whether the payer's account was named by the TPP: no choice of account, no consent screen. */
export function isImplicit(consent: Consent): boolean {
  return consent.request.Data.Initiation.DebtorAccount !== undefined;
}

/**
 * The consent after a move.
 *
 * @throws {ApiError} `resource.invalid_consent_status` where the move is not legal at `now`
 */
export function moved(consent: Consent, move: ConsentMove, now: number): Consent {
  const current = asOf(consent, now);
  const status = MOVES[current.status][move];
  if (status === undefined) throw wrongStatus(move, current.status);
  return { ...current, status, statusUpdatedAt: now };
}

/** The consent with what the bank reported (contract CT4); the last report wins. @throws {ApiError} unless it awaits authorisation */
export function withPayer(
  consent: Consent,
  reported: Pick<Payer, "sub" | "accounts">,
  now: number,
): Consent & { readonly payer: Payer & { readonly report: number } } {
  const current = asOf(consent, now);
  if (current.status !== "AwaitingAuthorisation") {
    throw wrongStatus("payer accounts", current.status);
  }
  return { ...current, payer: { ...reported, report: (current.payer?.report ?? 0) + 1 } };
}

/** The rejection of what a consent of this status does not allow; `attempt` is for the log. */
export function wrongStatus(attempt: string, status: ConsentStatus): ApiError {
  const message = `The consent's status is ${status}, which does not allow this.`;
  return invalidStatus(message, `${attempt} while ${status}`);
}

/**
 * The rejection of what a consent does not allow now, with the place that a client should look at.
 *
 * @param message for the caller
 * @param detail for the log
 */
export function invalidStatus(message: string, detail: string): ApiError {
  const fault = { code: "Resource.InvalidConsentStatus", path: "Data.ConsentId", message } as const;
  return new ApiError("resource.invalid_consent_status", { detail, faults: [fault] });
}

/** When the consent ends by itself, milliseconds; undefined where it has ended. */
export function deadlineOf(consent: Consent): number | undefined {
  if (consent.status === "AwaitingAuthorisation") return consent.authoriseBy;
  if (consent.status === "Authorized") return consent.statusUpdatedAt + USE_WITHIN_SECONDS * 1000;
  return undefined;
}
