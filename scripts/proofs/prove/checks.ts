/** The judgement: what must hold between everybody's books, whatever was retried, raced or killed. No I/O. */
import type { AuditEntry } from "../../../src/platform/evidence/evidence.ts";
import { accountId, customersOf } from "../../../src/sandbox/bank/customers.ts";
import type { BankBooks, PaymentSeen, TppBooks } from "./bank_records.ts";
import type { ConsentFact } from "./payment.ts";
import type { SealedRecords } from "./sealed_records.ts";

/** Everything that was seen. */
export interface Evidence {
  readonly consents: readonly ConsentFact[];
  /** By bank code. */
  readonly tpp: Readonly<Record<string, TppBooks>>;
  readonly banks: Readonly<Record<string, BankBooks>>;
  readonly dead: readonly string[];
  readonly waiting: readonly string[];
  /** Payments whose orders were pushed to a bank that had them already. */
  readonly pushedAgain: ReadonlySet<string>;
  /** By payment and consent id. */
  readonly histories: ReadonlyMap<string, readonly AuditEntry[]>;
  readonly sealed: SealedRecords;
}

/** One check's outcome. */
export interface CheckResult {
  readonly name: string;
  /** How many things it looked at. */
  readonly judged: number;
  /** A sentence each. */
  readonly violations: readonly string[];
}

/** Every check. */
export function judge(evidence: Evidence): readonly CheckResult[] {
  return [
    oneConsentPerKey(evidence),
    onePaymentPerConsent(evidence),
    everyAnswerHasItsPayment(evidence),
    oneKeyWins(evidence),
    paymentsAndConsumedConsents(evidence),
    noMismatch(evidence),
    executedOnce(evidence),
    balances(evidence),
    nothingLeft(evidence),
    histories(evidence),
    personalData(evidence),
    noFailures(evidence),
  ];
}

function result(name: string, judged: number, violations: readonly (string | false)[]): CheckResult {
  return { name, judged, violations: violations.filter((each) => each !== false) };
}

function ordersOf({ banks }: Evidence): readonly PaymentSeen[] {
  return Object.values(banks).flatMap(({ orders }) => orders);
}

function personalData({ sealed: { count, readable } }: Evidence): CheckResult {
  const name = "personal data is encrypted in the database";
  return result(name, count, readable.map((key) => `${key} has readable personal data`));
}

function oneConsentPerKey({ consents }: Evidence): CheckResult {
  return result(
    "one key makes one consent",
    consents.length,
    consents.map(({ consentId, repeatedId }) =>
      consentId !== repeatedId && `one key made the consents ${consentId} and ${repeatedId}`
    ),
  );
}

function onePaymentPerConsent(evidence: Evidence): CheckResult {
  const byConsent = Map.groupBy(ordersOf(evidence), ({ ConsentId }) => ConsentId);
  return result(
    "a consent has at most one payment",
    evidence.consents.length,
    [...byConsent].map(([id, payments]) =>
      payments.length > 1 && `consent ${id} has ${payments.length} payments`
    ),
  );
}

function everyAnswerHasItsPayment(evidence: Evidence): CheckResult {
  const answers = evidence.consents.flatMap((consent) =>
    consent.posts.flatMap(({ paymentId }) => paymentId === undefined ? [] : [{ consent, paymentId }])
  );
  const violations = answers.map(({ consent, paymentId }) => {
    const read = evidence.tpp[consent.bank]?.payments.get(paymentId);
    const listed = evidence.banks[consent.bank]?.orders.find(({ DomesticPaymentId }) =>
      DomesticPaymentId === paymentId
    );
    if (read === undefined || listed === undefined) {
      return `payment ${paymentId} was answered and is not there`;
    }
    const isConsents = [read, listed].every(({ ConsentId, Initiation }) =>
      ConsentId === consent.consentId && Initiation.InstructedAmount.Amount === consent.amount
    );
    return !isConsents && `payment ${paymentId} is not what consent ${consent.consentId} says`;
  });
  return result("every 201 has its payment", answers.length, violations);
}

function oneKeyWins({ consents }: Evidence): CheckResult {
  const paid = consents.filter(({ posts }) => posts.length > 0);
  const violations = paid.map(({ consentId, posts }) => {
    const won = posts.filter(({ paymentId }) => paymentId !== undefined);
    const ids = new Set(won.map(({ paymentId }) => paymentId));
    const keys = new Set(won.map(({ key }) => key));
    const answers = new Set(posts.map(({ key, paymentId }) => `${key} ${paymentId}`));
    const allKeys = new Set(posts.map(({ key }) => key));
    return (ids.size !== 1 || keys.size !== 1 || answers.size !== allKeys.size) &&
      `consent ${consentId}: ${ids.size} payments were answered to ${keys.size} keys`;
  });
  return result("one key gets the payment, each time the same", paid.length, violations);
}

function paymentsAndConsumedConsents(evidence: Evidence): CheckResult {
  const paid = new Set(ordersOf(evidence).map(({ ConsentId }) => ConsentId));
  const known = new Set(evidence.consents.map(({ consentId }) => consentId));
  const violations = evidence.consents.map(({ consentId, bank }) => {
    const status = evidence.tpp[bank]?.consents.get(consentId);
    return (status === "Consumed") !== paid.has(consentId) &&
      `consent ${consentId} is ${status} and has ${paid.has(consentId) ? "a" : "no"} payment`;
  });
  const unexpected = [...paid].map((id) => !known.has(id) && `a payment of consent ${id}, which nobody made`);
  return result("a consent is Consumed exactly when it has a payment", evidence.consents.length, [
    ...violations,
    ...unexpected,
  ]);
}

const MISMATCH_CODES = ["UK.OBIE.Resource.ConsentMismatch", "UK.OBIE.Resource.InvalidConsentStatus"];

function noMismatch({ consents }: Evidence): CheckResult {
  const mismatches = consents.flatMap(({ posts }) => posts.filter(({ mismatch }) => mismatch));
  return result(
    "no payment differs from its consent",
    mismatches.length,
    mismatches.map(({ rejected, paymentId }) => {
      const isRejected = rejected?.status === 400 &&
        rejected.codes.every((code) => MISMATCH_CODES.includes(code));
      return !isRejected && `another amount was answered ${paymentId ?? rejected?.status}`;
    }),
  );
}

function executedOnce({ banks }: Evidence): CheckResult {
  const violations = Object.entries(banks).flatMap(([code, { orders, executed }]) => {
    const byId = Map.groupBy(executed, ({ DomesticPaymentId }) => DomesticPaymentId);
    const known = new Map(orders.map((order) => [order.DomesticPaymentId, order]));
    return [
      ...orders.map(({ DomesticPaymentId: id, Status, Initiation }) => {
        const [order, ...more] = byId.get(id) ?? [];
        if (order === undefined || more.length > 0) {
          return `${code} executed ${id} ${more.length + (order ? 1 : 0)} times`;
        }
        return (order.Status !== Status ||
          order.InstructedAmount.Amount !== Initiation.InstructedAmount.Amount) &&
          `${id} is ${Status} at the platform and ${order.Status} at ${code}`;
      }),
      ...executed.map(({ DomesticPaymentId: id }) =>
        !known.has(id) && `${code} executed ${id}, which the platform does not know`
      ),
    ];
  });
  const judged = Object.values(banks).reduce((sum, { orders }) => sum + orders.length, 0);
  return result("the bank executed each order exactly once", judged, violations);
}

function balances({ banks }: Evidence): CheckResult {
  const accounts = Object.entries(banks).flatMap(([code, books]) =>
    customersOf(code).flatMap(({ accounts }) => accounts.map((account) => ({ code, books, account })))
  );
  const violations = accounts.map(({ code, books, account }) => {
    const { identification, currency, openingMinorUnits } = account;
    const spent = books.executed
      .filter(({ Status, DebtorAccount, InstructedAmount }) =>
        Status !== "Rejected" && DebtorAccount.Identification === identification &&
        InstructedAmount.Currency === currency
      )
      .reduce((sum, { InstructedAmount }) => sum + minor(InstructedAmount.Amount), 0);
    const left = minor(books.balances[accountId(account)] ?? "");
    return left !== openingMinorUnits - spent &&
      `${accountId(account)} at ${code} has ${left} instead of ${openingMinorUnits - spent} cents`;
  });
  return result("the money is what the orders took", accounts.length, violations);
}

function nothingLeft({ dead, waiting, banks }: Evidence): CheckResult {
  const orders = Object.values(banks).flatMap(({ orders }) => orders);
  const final = ["AcceptedCreditSettlementCompleted", "Rejected"];
  return result("nothing is left on the way", orders.length, [
    ...dead.map((id) => `order ${id} was given up`),
    ...waiting.map((id) => `order ${id} still waits to be pushed`),
    ...orders.map(({ DomesticPaymentId, Status }) =>
      !final.includes(Status) && `payment ${DomesticPaymentId} is still ${Status}`
    ),
  ]);
}

/** Every history that can be, as it can be at the end. */
const PAYMENT_HISTORIES = [
  "Pending AcceptedSettlementInProcess AcceptedSettlementCompleted AcceptedCreditSettlementCompleted",
  "Pending Rejected",
  "Pending AcceptedSettlementInProcess Rejected",
];

function histories(evidence: Evidence): CheckResult {
  const orders = ordersOf(evidence);
  const told = (id: string): string =>
    (evidence.histories.get(id) ?? []).map(({ event }) => event)
      .filter((event) => event !== "payment_order.outcome_unknown") // any push may be lost
      .map((event) => event.replace(/^payment\./, "")).join(" ");
  const consumed = orders.map(({ ConsentId, DomesticPaymentId }) => {
    const moves = (evidence.histories.get(ConsentId) ?? []).filter(({ event }) =>
      /^consent\.[A-Z]/.test(event)
    );
    // Accounts that a bank put are told as well, under the status that they leave as it is.
    const line = moves.map(({ event }) => event.replace("consent.", ""))
      .filter((event, at, all) => event !== all[at - 1]).join(" ");
    const isRight = line === "AwaitingAuthorisation Authorized Consumed" &&
      moves.at(-1)?.reason === `payment ${DomesticPaymentId}`;
    return !isRight && `history of consent ${ConsentId}: ${line}`;
  });
  const payments = orders.map(({ DomesticPaymentId: id, Status }) => {
    const isRight = PAYMENT_HISTORIES.includes(told(id)) && told(id).endsWith(Status);
    return !isRight && `history of payment ${id}, which is ${Status}: ${told(id)}`;
  });
  return result("every history is complete", orders.length * 2, [...payments, ...consumed]);
}

function noFailures({ consents }: Evidence): CheckResult {
  const posts = consents.flatMap(({ posts }) => posts);
  return result(
    "nothing but the expected rejections was answered",
    posts.length,
    posts.map(({ rejected }) =>
      rejected !== undefined && (rejected.status !== 400 ||
        !rejected.codes.every((code) => MISMATCH_CODES.includes(code))) &&
      `a payment was answered ${rejected.status} ${rejected.codes.join(" ")}`
    ),
  );
}

function minor(amount: string): number {
  return Math.round(Number(amount) * 100);
}
