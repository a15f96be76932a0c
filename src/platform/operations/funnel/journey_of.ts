/** Reads the journey of a case in its histories (contract FUN1). What happens after its first end does not count. No I/O. */
import { isDecided, PAYMENT_STATUSES } from "../../core/payments/payment.ts";
import type { AuditEntry } from "../../evidence/evidence.ts";
import type { ReasonCode } from "../../../base/values/reason_codes.ts";
import { type Journey, STEPS, UNKNOWN_LANGUAGE } from "../../observed/funnel/journey.ts";

/** What the histories do not have. */
export interface CaseFacts {
  /** The platform's language that the TPP asked for. */
  readonly asked: string | undefined;
  /** The codes of the consent and the payment as they are stored. */
  readonly consentCode: ReasonCode | undefined;
  readonly paymentCode: ReasonCode | undefined;
}

/** Of a rejection whose own code is not stored any more. */
const NO_CODE: ReasonCode = "MS03";

/** Returns undefined if no history of a creation is left. Both histories are oldest first. */
export function journeyOf(
  consent: readonly AuditEntry[],
  payment: readonly AuditEntry[],
  facts: CaseFacts,
): Journey | undefined {
  const [created] = consent;
  if (created?.reason !== "created") return undefined;
  const end = consent.findIndex(({ event }) => event === "consent.Rejected");
  const rejection = consent[end];
  const until = rejection === undefined ? consent : consent.slice(0, end + 1);
  const decision = until.find(isDecision);
  const [paid, outcome] = rejection === undefined ? [payment[0], payment.find(isOutcome)] : [];
  const returned = until.find((entry) => has(entry, "sca_result"))?.at ?? decision?.at;
  const times = [
    created.at,
    until.find((entry) => has(entry, "pushed_request"))?.at,
    until.find((entry) => has(entry, "handover"))?.at,
    until.find((entry) => has(entry, "payer_accounts"))?.at ?? returned,
    returned,
    decision?.at,
    paid?.at,
    outcome?.at,
  ];
  const left = rejection === undefined ? paymentLeft(outcome, facts) : consentLeft(rejection, until, facts);
  return {
    language: until.find(({ page }) => page !== undefined)?.page?.language ?? facts.asked ?? UNKNOWN_LANGUAGE,
    reached: inOrder(times),
    ...(left === undefined ? {} : { left }),
  };
}

/** The customer's, on the page of the platform or of the bank. */
function isDecision({ event, actor }: AuditEntry): boolean {
  return event === "consent.Authorized" || event === "consent.Rejected" && actor === "customer";
}

function isOutcome({ event }: AuditEntry): boolean {
  return PAYMENT_STATUSES.some((status) => event === `payment.${status}` && isDecided({ status }));
}

function has({ items = [] }: AuditEntry, kind: string): boolean {
  return items.some((item) => item.kind === kind);
}

/** A step that was reached has all before it: the clock of a process may be behind that of another one. */
function inOrder(times: readonly (number | undefined)[]): readonly number[] {
  const last = times.findLastIndex((at) => at !== undefined);
  const reached: number[] = [];
  for (const at of times.slice(0, Math.min(last + 1, STEPS.length))) {
    const before = reached.at(-1) ?? 0;
    reached.push(Math.max(before, at ?? before));
  }
  return reached;
}

function consentLeft(rejection: AuditEntry, entries: readonly AuditEntry[], facts: CaseFacts): ReasonCode {
  const wasAuthorised = entries.some(({ event }) => event === "consent.Authorized");
  if (rejection.actor === "clock") return wasAuthorised ? "CONSENT_NOT_USED" : "DS24"; // contract RSN2
  if (rejection.actor === "platform") return "CONSENT_VOIDED";
  return facts.consentCode ?? NO_CODE;
}

function paymentLeft(outcome: AuditEntry | undefined, facts: CaseFacts): ReasonCode | undefined {
  if (outcome?.event !== "payment.Rejected") return undefined;
  return outcome.actor.startsWith("operator ") ? "ORDER_CLOSED" : facts.paymentCode ?? NO_CODE;
}
