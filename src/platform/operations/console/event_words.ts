/** The events of histories that have words for people. Others are shown by their names. */
import type { PlainKey } from "./phrase.ts";

const EVENTS = [
  "consent.AwaitingAuthorisation",
  "consent.authorization_requested",
  "consent.customer_sent_to_bank",
  "consent.customer_authenticated",
  "consent.customer_late",
  "consent.Authorized",
  "consent.Rejected",
  "consent.code_issued",
  "consent.token_issued",
  "consent.Consumed",
  "payment.Pending",
  "payment.AcceptedSettlementInProcess",
  "payment.AcceptedSettlementCompleted",
  "payment.AcceptedWithoutPosting",
  "payment.AcceptedCreditSettlementCompleted",
  "payment.Rejected",
  "payment_order.delivered",
  "payment_order.outcome_unknown",
  "payment_order.dead",
  "payment_order.redriven",
  "payment_order.held",
  "payment_order.resumed",
  "participant.blocked",
  "participant.unblocked",
  "participant.tokens_revoked",
  "bank.held",
  "bank.released",
  "bank.inquired",
  "bank.outage_planned",
  "bank.outage_changed",
  "bank.outage_cancelled",
  "operator.read",
  "operator.signed_in",
  "operator.forbidden",
  "client.registered",
  "client.updated",
  "client.deleted",
] as const;

/** Returns the message for an event, or undefined if it has none. */
export function eventWords(event: string): PlainKey | undefined {
  const known = EVENTS.find((name) => name === event);
  return known === undefined ? undefined : `event.${known}`;
}
