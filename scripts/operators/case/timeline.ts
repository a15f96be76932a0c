/** A case as lines that a person reads, from its bundle. */
import type { PaymentStatus } from "../../../src/platform/core/payments/payment.ts";
import type { Bundle, BundleEntry } from "./bundle_schema.ts";

/** Every status that a payment can have. */
const PAYMENT_WORDS: Readonly<Record<`payment.${PaymentStatus}`, string>> = {
  "payment.Pending": "the payment was created and waits for the bank",
  "payment.AcceptedSettlementInProcess": "the payment is in process",
  "payment.AcceptedSettlementCompleted": "the bank reported that the payment was settled",
  "payment.AcceptedWithoutPosting": "the bank accepted the payment without posting it",
  "payment.AcceptedCreditSettlementCompleted": "the bank reported that the payee was credited",
  "payment.Rejected": "the payment was rejected",
};

/** An event that is not here is printed by its name. */
const WORDS: Readonly<Record<string, string>> = {
  "consent.AwaitingAuthorisation": "the consent waits for the customer",
  "consent.authorization_requested": "the TPP pushed the authorization request",
  "consent.customer_sent_to_bank": "the customer was sent to the bank",
  "consent.customer_authenticated": "the bank reported that it authenticated the customer",
  "consent.customer_late": "the customer came too late",
  "consent.Authorized": "the customer authorised the consent",
  "consent.Rejected": "the consent was rejected",
  "consent.code_issued": "the TPP got the authorization code",
  "consent.token_issued": "the TPP got an access token",
  "consent.Consumed": "the consent was used for its payment",
  "consent.personal_data_deleted": "the data of a consent never authorised was deleted",
  "consent.erased": "the personal data of the consent was erased",
  "consent.evidence_deleted": "the evidence of the consent was erased",
  "payment.erased": "the personal data of the payment was erased",
  "payment.evidence_deleted": "the evidence of the payment was erased",
  ...PAYMENT_WORDS,
  "payment_order.delivered": "the bank accepted the order",
  "payment_order.outcome_unknown": "the bank may have the order: a push had no clear answer",
  "payment_order.dead": "the platform gave the order up",
  "payment_order.redriven": "an operator had the order tried again",
  "payment_order.held": "the order was held",
  "payment_order.resumed": "the order was no longer held",
};

const EVENT_COLUMNS = 52;

/** Returns one line for each entry: time, subject and number, event, actor, reason, evidence, request. */
export function timelineOf({ entries }: Bundle, consent: string): readonly string[] {
  return entries.map((entry) => lineOf(entry, consent));
}

function lineOf({ record, bodies }: BundleEntry, consent: string): string {
  const { at, event, actor, reason, interactionId, items = [], subject, sequence } = record;
  const evidence = items.map(({ kind }, index) => bodies[index] === null ? `${kind} (deleted)` : kind);
  const details = [
    ...(reason === undefined ? [] : [reason]),
    ...(evidence.length === 0 ? [] : [`evidence: ${evidence.join(", ")}`]),
    ...(interactionId === undefined ? [] : [`request ${interactionId}`]),
  ];
  const place = `${subject === consent ? "consent" : "payment"} ${sequence ?? "–"}`;
  const words = WORDS[event] ?? event;
  return [
    new Date(at).toISOString(),
    place.padEnd(10),
    words.padEnd(EVENT_COLUMNS),
    [`by ${actor}`, ...details].join("; "),
  ].join("  ");
}
