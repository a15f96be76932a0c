/** Which steps a case can have, by whom, and which evidence each has (`docs/contract/evidence.md`, verification, step 10). No I/O. */
import type { BundleEntry, Statement } from "./bundle_schema.ts";
import { entryName } from "./verify_parts.ts";

const CLIENT = /^SC-/;
const CUSTOMER = /^customer$/;
const PLATFORM = /^platform$/;
const CLOCK = /^clock$/;
const BANK = /^bank ./;
const OPERATOR = /^operator ./;

/** Who takes a step, and the kinds of evidence that its entry has: each of them, one with `?` perhaps. No others. */
type Way = readonly [by: RegExp, ...kinds: string[]];

const ERASURE: readonly Way[] = [[CLOCK], [OPERATOR]];
const REPORTED: readonly Way[] = [
  [CLIENT, "status_report"],
  [BANK, "order", "order_response"],
  [BANK, "stated_order"],
];
const DISPUTED: readonly Way[] = [[CLIENT, "tpp_dispute"], [CLIENT, "bank_dispute"]];
const RECOVERED: Way = [BANK, "stated_order", "order"];

/** Every entry of a case, by `first` if it begins its history and its event. */
const STEPS: Readonly<Record<string, readonly Way[]>> = {
  "first consent.AwaitingAuthorisation": [[CLIENT, "consent_request"]],
  "consent.AwaitingAuthorisation": [[CLIENT, "payer_accounts"]],
  "consent.authorization_requested": [[CLIENT, "pushed_request"]],
  "consent.customer_sent_to_bank": [[CUSTOMER, "handover"]],
  "consent.customer_authenticated": [[CUSTOMER, "sca_result"]],
  "consent.customer_late": [[CUSTOMER, "decision"], [CUSTOMER, "sca_result"], [CUSTOMER]],
  "consent.Authorized": [[CUSTOMER, "decision"], [CUSTOMER, "sca_result"]],
  "consent.Rejected": [[CUSTOMER, "decision"], [CUSTOMER, "sca_result"], [CLOCK], [PLATFORM]],
  "consent.token_issued": [[CLIENT]],
  "consent.token_revoked": [[CLIENT]],
  "consent.Consumed": [[CLIENT], [BANK]],
  "consent.personal_data_deleted": [[CLOCK]],
  "consent.erased": ERASURE,
  "consent.evidence_deleted": ERASURE,
  "first payment.Pending": [[CLIENT, "payment_request"], RECOVERED],
  "first payment.AcceptedSettlementInProcess": [[CLIENT, "payment_request"], RECOVERED],
  "first payment.AcceptedSettlementCompleted": [RECOVERED],
  "first payment.AcceptedWithoutPosting": [RECOVERED],
  "first payment.AcceptedCreditSettlementCompleted": [RECOVERED],
  "first payment.Rejected": [RECOVERED],
  "payment.AcceptedSettlementInProcess": REPORTED,
  "payment.AcceptedSettlementCompleted": REPORTED,
  "payment.AcceptedWithoutPosting": REPORTED,
  "payment.AcceptedCreditSettlementCompleted": REPORTED,
  "payment.Rejected": [...REPORTED, [OPERATOR]],
  "payment.erased": ERASURE,
  "payment.evidence_deleted": ERASURE,
  "payment_order.delivered": [[BANK, "order", "order_response"]],
  "payment_order.outcome_unknown": [[PLATFORM, "order", "order_response?"]],
  "payment_order.dead": [[PLATFORM, "order?", "order_response?"]],
  "payment_order.held": [[PLATFORM]],
  "payment_order.resumed": [[PLATFORM]],
  "payment_order.redriven": [[OPERATOR]],
  "dispute.opened": DISPUTED,
  "dispute.answered": DISPUTED,
  "dispute.withdrawn": DISPUTED,
  "dispute.decided": [[OPERATOR]],
};
/** Entries that record the erasure of a case. */
const ERASING = ["consent.personal_data_deleted", "consent.evidence_deleted", "payment.evidence_deleted"];

/** Yields each entry that lacks the evidence of its step, and each deletion that its step may not make. */
export function* verifyRequired(entries: readonly BundleEntry[], statement: Statement): Generator<string> {
  const places = new Map<string, string>();
  for (const entry of entries) {
    const { record } = entry;
    yield* verifyStep(entry, statement.consent);
    for (const place of record.deleted ?? []) {
      const kind = places.get(place);
      if (kind === undefined) yield `${entryName(entry)} deletes ${place}, which no entry before it names`;
      else if (kind !== "payer_accounts" && !ERASING.includes(record.event)) {
        yield `${entryName(entry)} deletes the ${kind} and is no erasure`;
      }
    }
    for (const item of record.items ?? []) {
      const place = `${record.subject} ${record.sequence} ${item.kind}`;
      if (places.has(place)) yield `the ${item.kind} of ${entryName(entry)} has the place of another one`;
      places.set(place, item.kind);
    }
  }
  yield* verifyCourse(entries, statement);
  yield* verifyStatuses(entries, statement);
}

function* verifyStep(entry: BundleEntry, consent: string): Generator<string> {
  const { subject, sequence, event, actor, items = [] } = entry.record;
  const name = sequence === 1 ? `first ${event}` : event;
  const ways = Object.hasOwn(STEPS, name) ? STEPS[name] ?? [] : [];
  if (ways.length === 0 || event.startsWith("consent.") !== (subject === consent)) {
    return yield `${entryName(entry)} is no step of a consent or payment`;
  }
  const kinds = items.map(({ kind }) => kind);
  if (new Set(kinds).size !== kinds.length) yield `${entryName(entry)} has two pieces of one kind`;
  const own = ways.filter(([by]) => by.test(actor));
  if (own.length === 0) yield `${entryName(entry)} is by ${actor}, who does not take this step`;
  const lacking = own.filter(([, ...needed]) =>
    needed.some((kind) => !kind.endsWith("?") && !kinds.includes(kind))
  );
  if (own.length > 0 && lacking.length === own.length) {
    const sets = own.map(([, ...needed]) => needed.filter((kind) => !kind.endsWith("?")).join(" and "));
    yield `${entryName(entry)} lacks its evidence: ${sets.join(", or ")}`;
  }
  const isWhole = own.some((way) =>
    !lacking.includes(way) && kinds.every((kind) => way.includes(kind) || way.includes(`${kind}?`))
  );
  if (!isWhole && lacking.length < own.length) yield `${entryName(entry)} has evidence of another step`;
}

/** A step, and one that must have come before it. */
const AFTER: readonly (readonly [string, string])[] = [
  ["consent.customer_sent_to_bank", "consent.authorization_requested"],
  ["consent.customer_authenticated", "payer_accounts"],
  ["consent.token_issued", "consent.Authorized"],
  ["consent.token_revoked", "consent.token_issued"],
  ["consent.evidence_deleted", "consent.erased"],
  ["payment.evidence_deleted", "payment.erased"],
  ["payment_order.redriven", "payment_order.dead"],
  ["payment_order.resumed", "payment_order.held"],
  ["dispute.answered", "dispute.opened"],
  ["dispute.withdrawn", "dispute.opened"],
  ["dispute.decided", "dispute.opened"],
];
const CLOSED = "payment.Rejected by an operator";
const ONCE = [
  "consent.Authorized",
  "consent.Consumed",
  "consent.Rejected",
  "consent.erased",
  "payment.erased",
  "dispute.opened",
  "dispute.answered",
  "dispute.withdrawn",
  "dispute.decided",
  CLOSED,
];

/** The steps come in an order in which they are possible. */
function* verifyCourse(
  entries: readonly BundleEntry[],
  { consent_entries, payment }: Statement,
): Generator<string> {
  const done = new Set<string>();
  const recovered = isRecovered(entries, payment);
  for (const entry of entries) {
    const { event, subject, actor, items = [] } = entry.record;
    const needed = AFTER.flatMap(([after, before]) => after === event ? before : []);
    if (event === "consent.Consumed" && !recovered) needed.push("consent.token_issued");
    const step = event === "payment.Rejected" && OPERATOR.test(actor) ? CLOSED : event;
    if (step === CLOSED) needed.push("payment_order.dead");
    if (subject === payment && consent_entries > 0) needed.push("consent.Consumed");
    if (event === "payment.erased") needed.push("consent.erased");
    for (const before of needed) {
      if (!done.has(before)) yield `${entryName(entry)} comes without ${before} before it`;
    }
    if (ONCE.includes(step) && done.has(step)) yield `${entryName(entry)} is there twice`;
    for (const { kind } of items) done.add(kind);
    if (event === "consent.Authorized" && !done.has("sca_result")) {
      yield `${entryName(entry)} comes without the bank's sca_result`;
    }
    done.add(step);
  }
  if (done.has("consent.Consumed") && done.has("consent.Rejected") && !recovered) {
    yield "the consent was rejected, and used for a payment";
  }
  if (done.has("consent.Consumed") && !entries.some(({ record }) => record.subject === payment)) {
    yield "the consent was used for a payment, and the entries of the payment are missing";
  }
  if (done.has("consent.erased") && done.has("consent.Consumed") && !done.has("payment.erased")) {
    yield "the consent was erased, and its payment was not";
  }
}

/** The statuses that can follow a status, directly or by others. After a closing by an operator, all that follow `Pending`. */
const FOLLOWING: Readonly<Record<string, readonly string[]>> = {
  Pending: [
    "AcceptedSettlementInProcess",
    "AcceptedSettlementCompleted",
    "AcceptedWithoutPosting",
    "AcceptedCreditSettlementCompleted",
    "Rejected",
  ],
  AcceptedSettlementInProcess: [
    "AcceptedSettlementCompleted",
    "AcceptedWithoutPosting",
    "AcceptedCreditSettlementCompleted",
    "Rejected",
  ],
  AcceptedSettlementCompleted: ["AcceptedWithoutPosting", "AcceptedCreditSettlementCompleted", "Rejected"],
  AcceptedWithoutPosting: ["AcceptedCreditSettlementCompleted", "Rejected"],
};

function* verifyStatuses(entries: readonly BundleEntry[], { payment }: Statement): Generator<string> {
  let status: string | undefined;
  for (const entry of entries) {
    const { subject, event, actor } = entry.record;
    const next = /^payment\.([A-Z]\w*)$/.exec(event)?.[1];
    if (subject !== payment || next === undefined) continue;
    const following = FOLLOWING[status ?? ""] ?? [];
    if (status !== undefined && !following.includes(next)) {
      yield `${entryName(entry)} cannot follow ${status}`;
    }
    status = next === "Rejected" && OPERATOR.test(actor) ? "Pending" : next;
  }
}

/** Whether the payment was recovered from a bank's statement after a restore. */
export function isRecovered(entries: readonly BundleEntry[], payment: string): boolean {
  return entries.some(({ record }) =>
    record.subject === payment && record.sequence === 1 &&
    (record.items ?? []).some(({ kind }) => kind === "stated_order")
  );
}
