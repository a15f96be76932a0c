/** Step 10: the steps of a case, who takes them, and with which evidence. */
import { type Case, isPaymentStatus, nameOf } from "./case.ts";
import type { Entry } from "./form.ts";

/** Kinds of evidence in one text, with spaces. */
type Row = readonly [
  entry: string,
  by: "client" | "customer" | "platform" | "clock" | "bank" | "operator",
  kinds: string,
];

/** The table. `first`, `later` and `status` as the page has them. */
const TABLE: readonly Row[] = [
  ["first consent.AwaitingAuthorisation", "client", "consent_request"],
  ["later consent.AwaitingAuthorisation", "client", "payer_accounts"],
  ["consent.authorization_requested", "client", "pushed_request"],
  ["consent.customer_sent_to_bank", "customer", "handover"],
  ["consent.customer_authenticated", "customer", "sca_result"],
  ["consent.customer_late", "customer", "decision"],
  ["consent.customer_late", "customer", "sca_result"],
  ["consent.customer_late", "customer", ""],
  ["consent.Authorized", "customer", "decision"],
  ["consent.Authorized", "customer", "sca_result"],
  ["consent.Rejected", "customer", "decision"],
  ["consent.Rejected", "customer", "sca_result"],
  ["consent.Rejected", "clock", ""],
  ["consent.Rejected", "platform", ""],
  ["consent.token_issued", "client", ""],
  ["consent.token_revoked", "client", ""],
  ["consent.Consumed", "client", ""],
  ["consent.Consumed", "bank", ""],
  ["consent.personal_data_deleted", "clock", ""],
  ...["consent.erased", "consent.evidence_deleted", "payment.erased", "payment.evidence_deleted"].flatMap((
    event,
  ) => [[event, "clock", ""], [event, "operator", ""]] as const),
  ["first payment.Pending", "client", "payment_request"],
  ["first payment.AcceptedSettlementInProcess", "client", "payment_request"],
  ["first status", "bank", "stated_order order"],
  ["later status", "client", "status_report"],
  ["later status", "bank", "order order_response"],
  ["later status", "bank", "stated_order"],
  ["later payment.Rejected", "operator", ""],
  ["payment_order.delivered", "bank", "order order_response"],
  ["payment_order.outcome_unknown", "platform", "order order_response?"],
  ["payment_order.dead", "platform", "order? order_response?"],
  ["payment_order.held", "platform", ""],
  ["payment_order.resumed", "platform", ""],
  ["payment_order.redriven", "operator", ""],
  ...["opened", "answered", "withdrawn"].flatMap((step) =>
    ["tpp_dispute", "bank_dispute"].map((kind) => [`dispute.${step}`, "client", kind] as const)
  ),
  ["dispute.decided", "operator", ""],
];

const STATUSES = [
  "Pending",
  "AcceptedSettlementInProcess",
  "AcceptedSettlementCompleted",
  "AcceptedWithoutPosting",
  "AcceptedCreditSettlementCompleted",
  "Rejected",
];

/** `client` if the name begins so, the word before the space, or the name. */
function roleOf(actor: string): string {
  if (actor.startsWith("SC-")) return "client";
  const [role = "", name] = actor.split(" ");
  return role === "bank" || role === "operator" ? name ? role : "nobody" : actor;
}

function isStep(entry: Entry, { consent }: Case): boolean {
  const { event, actor, sequence, subject, items = [] } = entry;
  const order = sequence === 1 ? "first" : "later";
  const isStatus = isPaymentStatus(event) && STATUSES.includes(event.slice("payment.".length));
  const names = [event, `${order} ${event}`];
  if (isStatus && (sequence === 1 || event !== "payment.Pending")) names.push(`${order} status`);
  const isBegun = subject === consent ? event === "consent.AwaitingAuthorisation" : isStatus;
  if (event.startsWith("consent.") !== (subject === consent) || sequence === 1 && !isBegun) return false;
  const kinds = items.map(({ kind }) => kind);
  return TABLE.some(([name, by, needed]) => {
    const ways = needed.split(" ").filter((kind) => kind !== "");
    return names.includes(name) && by === roleOf(actor) &&
      ways.every((kind) => kind.endsWith("?") || kinds.includes(kind)) &&
      kinds.every((kind) => ways.includes(kind) || ways.includes(`${kind}?`));
  });
}

const NEEDS: Readonly<Record<string, string>> = {
  "consent.customer_sent_to_bank": "consent.authorization_requested",
  "consent.customer_authenticated": "payer_accounts",
  "consent.token_issued": "consent.Authorized",
  "consent.token_revoked": "consent.token_issued",
  "consent.evidence_deleted": "consent.erased",
  "payment.evidence_deleted": "payment.erased",
  "payment.erased": "consent.erased",
  "payment_order.redriven": "payment_order.dead",
  "payment_order.resumed": "payment_order.held",
  "dispute.answered": "dispute.opened",
  "dispute.withdrawn": "dispute.opened",
  "dispute.decided": "dispute.opened",
};

function needsOf({ event, actor, subject }: Entry, facts: Case, isRecovered: boolean): readonly string[] {
  const needs = Object.hasOwn(NEEDS, event) ? [NEEDS[event] ?? ""] : [];
  if (event === "consent.Consumed" && !isRecovered) needs.push("consent.token_issued");
  if (event === "payment.Rejected" && roleOf(actor) === "operator") needs.push("payment_order.dead");
  const hasConsent = Number(facts.statement["consent_entries"]) > 0;
  if (subject === facts.payment && hasConsent) needs.push("consent.Consumed");
  return needs;
}

const ONCE = [
  "consent.Authorized",
  "consent.Rejected",
  "consent.Consumed",
  "consent.erased",
  "payment.erased",
  "dispute.opened",
  "dispute.answered",
  "dispute.withdrawn",
  "dispute.decided",
];

export function* requiredFaults(facts: Case): Generator<string> {
  const { entries, payment } = facts;
  const first = entries.find(({ subject }) => subject === payment);
  const isRecovered = (first?.items ?? []).some(({ kind }) => kind === "stated_order");
  const [before, kinds] = [new Set<string>(), new Set<string>()];
  for (const entry of entries) {
    const { event, items = [] } = entry;
    if (!isStep(entry, facts)) yield `${nameOf(entry)} is no step of the table`;
    if (new Set(items.map(({ kind }) => kind)).size < items.length) yield `${nameOf(entry)} has a kind twice`;
    for (const needed of needsOf(entry, facts, isRecovered)) {
      if (!before.has(needed) && !kinds.has(needed)) yield `${nameOf(entry)} needs an earlier ${needed}`;
    }
    for (const { kind } of items) kinds.add(kind);
    if (event === "consent.Authorized" && !kinds.has("sca_result")) {
      yield `${nameOf(entry)} has no sca_result`;
    }
    const isClosed = event === "payment.Rejected" && roleOf(entry.actor) === "operator";
    const isOnce = isClosed || ONCE.includes(event);
    const step = isClosed ? `${event} by an operator` : event;
    if (isOnce && before.has(step)) yield `${nameOf(entry)} is there twice`;
    before.add(step);
  }
  const isConsumed = before.has("consent.Consumed");
  if (isConsumed && before.has("consent.Rejected") && !isRecovered) {
    yield "the consent was rejected and consumed";
  }
  if (isConsumed && before.has("consent.erased") && !before.has("payment.erased")) {
    yield "the consent was erased without its payment";
  }
  if (isConsumed && first === undefined) yield "a consumed consent without a payment";
  yield* statusFaults(facts);
}

function* statusFaults({ entries, payment }: Case): Generator<string> {
  let before = -1;
  for (const entry of entries) {
    if (entry.subject !== payment || !isPaymentStatus(entry.event)) continue;
    const place = STATUSES.indexOf(entry.event.slice("payment.".length));
    const isCredited = before === STATUSES.indexOf("AcceptedCreditSettlementCompleted");
    if (place <= before || isCredited) yield `${nameOf(entry)} does not follow the status before it`;
    before = entry.event === "payment.Rejected" && roleOf(entry.actor) === "operator" ? 0 : place;
  }
}
