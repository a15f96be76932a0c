/** Which evidence each entry of a case must have (`docs/contract/evidence.md`, verification, step 10). No I/O. */
import type { BundleEntry, Statement } from "./bundle_schema.ts";
import { nameOf } from "./verify_parts.ts";

/** Kinds that an entry must have, by its event: one of the sets. */
const OF_EVENT: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "consent.authorization_requested": [["pushed_request"]],
  "consent.customer_sent_to_bank": [["handover"]],
  "consent.customer_authenticated": [["sca_result"]],
  "consent.Authorized": [["decision"], ["sca_result"]],
  "consent.customer_late": [["decision"], ["sca_result"]],
  "payment_order.delivered": [["order", "order_response"], ["stated_order"]],
  "payment_order.outcome_unknown": [["order"]],
};
/** Entries that record the erasure of a case. */
const ERASING = ["consent.personal_data_deleted", "consent.evidence_deleted", "payment.evidence_deleted"];

/** Yields each entry that lacks the evidence of its step, and each deletion that its step may not make. */
export function* verifyRequired(
  entries: readonly BundleEntry[],
  { consent, consent_entries, payment }: Statement,
): Generator<string> {
  const places = new Map<string, string>();
  const events = new Set(entries.map(({ record }) => record.event));
  for (const entry of entries) {
    const { record } = entry;
    const kinds = (record.items ?? []).map(({ kind }) => kind);
    const sets = setsFor(entry, consent);
    if (sets.length > 0 && !sets.some((set) => set.every((kind) => kinds.includes(kind)))) {
      yield `${nameOf(entry)} lacks its evidence: ${sets.map((set) => set.join(" and ")).join(", or ")}`;
    }
    if (new Set(kinds).size !== kinds.length) yield `${nameOf(entry)} has two pieces of one kind`;
    for (const place of record.deleted ?? []) {
      const kind = places.get(place);
      if (kind === undefined) yield `${nameOf(entry)} deletes ${place}, which no entry before it names`;
      else if (kind !== "payer_accounts" && !ERASING.includes(record.event)) {
        yield `${nameOf(entry)} deletes the ${kind} and is no erasure`;
      }
    }
    for (const item of record.items ?? []) {
      places.set(item.place ?? `${record.subject} ${record.sequence} ${item.kind}`, item.kind);
    }
  }
  const isPaid = entries.some(({ record }) => record.subject === payment);
  if (consent_entries > 0 && isPaid !== events.has("consent.Consumed")) {
    yield isPaid
      ? "there is a payment, and no entry says that the consent was used for it"
      : "the consent was used for a payment, and the entries of the payment are missing";
  }
  if (
    consent_entries > 0 && isPaid && !events.has("consent.token_issued") && !isRecovered(entries, payment)
  ) {
    yield "there is a payment, and no entry says that the TPP got a token";
  }
  if (events.has("consent.Authorized") && !hasItem(entries, "sca_result")) {
    yield "the consent was authorised, and no entry has the bank's sca_result";
  }
}

function setsFor(
  { record: { subject, sequence, event, actor } }: BundleEntry,
  consent: string,
): readonly (readonly string[])[] {
  if (subject === consent) {
    if (sequence === 1) return [["consent_request"]];
    return event === "consent.AwaitingAuthorisation" ? [["payer_accounts"]] : OF_EVENT[event] ?? [];
  }
  if (sequence === 1) return [["payment_request"], ["stated_order", "order"]];
  const isMove = /^payment\.[A-Z]/.test(event);
  if (!isMove) return OF_EVENT[event] ?? [];
  if (event === "payment.Rejected" && actor.startsWith("operator ")) return [];
  return [["status_report"], ["order", "order_response"], ["stated_order"]];
}

/** Whether the payment was recovered from a bank's statement after a restore. */
export function isRecovered(entries: readonly BundleEntry[], payment: string): boolean {
  return entries.some(({ record }) =>
    record.subject === payment && record.sequence === 1 &&
    (record.items ?? []).some(({ kind }) => kind === "stated_order")
  );
}

function hasItem(entries: readonly BundleEntry[], wanted: string): boolean {
  return entries.some(({ record }) => (record.items ?? []).some(({ kind }) => kind === wanted));
}
