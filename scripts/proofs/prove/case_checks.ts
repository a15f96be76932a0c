/** The judgement of the case files and of the log: each case is complete and verifies, and the log only grew. No I/O. */
import type { CaseId, CaseSeen } from "./case_files.ts";
import type { CheckResult, Evidence } from "./checks.ts";
import type { Testimony } from "../../operators/log/witness.ts";

type Books = Pick<Evidence, "consents" | "banks" | "tpp">;

/** Evidence of a consent that a customer authorised. */
const AUTHORISED = ["pushed_request", "handover", "sca_result"];
/** Evidence that the bank answered, one of which each status after the first one has. */
const ANSWERS = ["order_response", "status_report"];

/** Every consent that the TPP made or a bank has an order of, with its payment. */
export function casesOf({ consents, banks }: Omit<Books, "tpp">): readonly CaseId[] {
  const cases = new Map<string, CaseId>(consents.map(({ consentId }) => [consentId, { consentId }]));
  for (const { ConsentId, DomesticPaymentId } of Object.values(banks).flatMap(({ orders }) => orders)) {
    cases.set(ConsentId, { consentId: ConsentId, paymentId: DomesticPaymentId });
  }
  return [...cases.values()];
}

/** The checks of the cases and of the log. */
export function judgeCases(
  books: Books,
  cases: readonly CaseSeen[],
  testimonies: readonly Testimony[],
): readonly CheckResult[] {
  return [
    {
      name: "every case file verifies",
      judged: cases.length,
      violations: cases.flatMap(({ faults }) => faults),
    },
    completeCases(books, cases),
    {
      name: "the log contains all that was signed before",
      judged: testimonies.length,
      violations: testimonies.flatMap(({ holds, words }) => holds ? [] : [words]),
    },
  ];
}

/** A status that the TPP or the bank was told has its entry, and a step of the payment its evidence. */
function completeCases(books: Books, cases: readonly CaseSeen[]): CheckResult {
  const seen = new Map(cases.map((each) => [each.consentId, each]));
  const violations = casesOf(books).flatMap((id) => {
    const { steps } = seen.get(id.consentId) ?? { steps: [] };
    const events = new Set(steps.map(({ event }) => event));
    const kinds = new Set(steps.flatMap((step) => step.kinds));
    const statuses = statusesTold(books, id).filter((event) => !events.has(event));
    const evidence = evidenceOf(id, events).filter((kind) => !kinds.has(kind));
    return [
      ...statuses.map((event) => `case of consent ${id.consentId} has no entry ${event}`),
      ...evidence.map((kind) => `case of consent ${id.consentId} has no ${kind}`),
      ...steps.flatMap(({ event, kinds }) => unproven(event, kinds) ?? [])
        .map((event) => `case of consent ${id.consentId} does not show why it is ${event}`),
    ];
  });
  return { name: "every case file is complete", judged: cases.length, violations };
}

/** Names of the entries of the statuses that were read, and that a payment has had before. */
function statusesTold(
  { consents, banks, tpp }: Books,
  { consentId, paymentId = "" }: CaseId,
): readonly string[] {
  const told = new Set(["consent.AwaitingAuthorisation"]);
  for (const { bank } of consents.filter((consent) => consent.consentId === consentId)) {
    told.add(`consent.${tpp[bank]?.consents.get(consentId)}`);
    const read = tpp[bank]?.payments.get(paymentId);
    if (read !== undefined) told.add(`payment.${read.Status}`);
  }
  const books = Object.values(banks);
  const orders = books.flatMap(({ orders, executed }) => [...orders, ...executed]);
  for (const { Status } of orders.filter(({ DomesticPaymentId }) => DomesticPaymentId === paymentId)) {
    for (const event of ["consent.Authorized", "consent.Consumed", "payment.Pending", `payment.${Status}`]) {
      told.add(event);
    }
  }
  return [...told];
}

function evidenceOf({ paymentId }: CaseId, events: ReadonlySet<string>): readonly string[] {
  return [
    "consent_request",
    ...(events.has("consent.Authorized") ? AUTHORISED : []),
    ...(paymentId === undefined ? [] : ["payment_request"]),
  ];
}

/** The event, if a bank decided it and its answer is not there. An order's answer comes with the order. */
function unproven(event: string, kinds: readonly string[]): string | undefined {
  if (!/^payment\.[A-Z]/.test(event) || event === "payment.Pending") return undefined;
  const isAnswered = kinds.some((kind) => ANSWERS.includes(kind));
  const isOrdered = !kinds.includes("order_response") || kinds.includes("order");
  return isAnswered && isOrdered ? undefined : event;
}
