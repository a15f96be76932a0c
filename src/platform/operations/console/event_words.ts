/** The events of histories and the kinds of evidence that have words for people. Others are shown by their names. */
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
  "consent.token_revoked",
  "consent.personal_data_deleted",
  "consent.erased",
  "payment.erased",
  "consent.evidence_deleted",
  "payment.evidence_deleted",
  "dispute.opened",
  "dispute.answered",
  "dispute.withdrawn",
  "dispute.decided",
  "proposal.made",
  "proposal.approved",
  "proposal.refused",
  "proposal.withdrawn",
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

const PROOFS = [
  "consent_request",
  "pushed_request",
  "handover",
  "payer_accounts",
  "sca_result",
  "decision",
  "payment_request",
  "order",
  "order_response",
  "status_report",
  "stated_order",
  "tpp_dispute",
  "bank_dispute",
] as const;

/** Returns the message for a kind of evidence, or undefined if it has none. */
export function proofWords(kind: string): PlainKey | undefined {
  const known = PROOFS.find((name) => name === kind);
  return known === undefined ? undefined : `proof.${known}`;
}
