/**
 * Checks every commit, every response that a party received and every line that the platform logs. The rules come from the
 * contract, not from the platform's code.
 */
import type { Key, Write } from "../../../src/base/store/store.ts";
import type { LogLine } from "../../testing/answers.ts";
import { INJECTED } from "./plan.ts";
import { claimsOf } from "./jwts.ts";

/** Watches one run. */
export interface Watch {
  /** A commit is about to take place. */
  readonly committed: (writes: readonly Write[], before: (key: Key) => unknown) => void;
  /** A line of the platform's log. */
  readonly logged: (line: string) => void;
  /** A request is about to be delivered under an interaction id. */
  delivering(interactionId: string, delivery: Delivery): void;
  /** A party has been told a status; `asked` and `told` are steps of the run. */
  observed(subject: string, status: string, asked: number, told: number): void;
  /** A party has been told which resource its idempotency key and body have made. */
  made(claim: string, body: string, resource: string): void;
  /** The database was replaced by an older copy. What parties saw is void; a consent's payment keeps its id for ever. */
  restored(): void;
}

/** A copy of a request on its way. */
export interface Delivery {
  /** The same for every copy of one request. */
  readonly request: string;
  /** Its single-use tokens were signed again by an attacker without the key. */
  readonly isForged: boolean;
}

/** Statuses that may follow directly, by the tables of the contract. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  AwaitingAuthorisation: ["Authorized", "Rejected"],
  Authorized: ["Consumed", "Rejected"],
  Consumed: [],
  Pending: ["AcceptedSettlementInProcess", "Rejected"],
  AcceptedSettlementInProcess: ["AcceptedSettlementCompleted", "Rejected"],
  AcceptedSettlementCompleted: ["AcceptedWithoutPosting", "AcceptedCreditSettlementCompleted"],
  AcceptedWithoutPosting: ["AcceptedCreditSettlementCompleted", "Rejected"],
  AcceptedCreditSettlementCompleted: [],
  Rejected: [],
};

interface Observation {
  readonly status: string;
  readonly asked: number;
  readonly told: number;
}

interface Resource {
  readonly id: string;
  readonly status: string;
  readonly consentId?: string;
}

type Violated = (check: string, sentence: string) => void;

/**
 * Begins to watch.
 *
 * @param mayBeBehind whether a process may find its clock behind another's
 */
export function openWatch(violated: Violated, mayBeBehind: boolean): Watch {
  const observations = new Map<string, Observation[]>();
  const paymentOf = new Map<string, string>();
  const state = { wasRestored: false };
  const claims = new Map<string, { readonly body: string; readonly resource: string }>();
  return {
    committed(writes, before) {
      for (const write of writes) {
        const [kind = ""] = write.key;
        if (kind === "log_head" && state.wasRestored) checkDeclaration(violated, write);
        if (kind !== "consent" && kind !== "payment") continue;
        if (write.kind === "delete") violated("nothing is lost", `${write.key.join(" ")} was deleted`);
        else if (!state.wasRestored) { // a bank's statement can move a payment or a consent over several statuses
          checkMove(violated, before(write.key) as Resource | undefined, write.value as Resource);
        }
      }
      checkPayments(violated, paymentOf, writes);
    },
    ...watchReplays(violated, mayBeBehind),
    observed(subject, status, asked, told) {
      if (state.wasRestored) return;
      const seen = observations.get(subject) ?? [];
      for (const earlier of seen) {
        const [first, second] = earlier.told <= asked ? [earlier.status, status] : [status, earlier.status];
        const isOrdered = earlier.told <= asked || told <= earlier.asked;
        if (isOrdered && !canBecome(first, second)) {
          violated("answers are linearisable", `${subject} was ${second} after it had been ${first}`);
        }
      }
      observations.set(subject, [...seen, { status, asked, told }]);
    },
    made(claim, body, resource) {
      if (state.wasRestored) return;
      const known = claims.get(claim);
      if (known === undefined) return void claims.set(claim, { body, resource });
      if (known.resource !== resource || known.body !== body) {
        violated("one key makes one resource", `the key ${claim} made ${known.resource} and ${resource}`);
      }
    },
    restored() {
      state.wasRestored = true;
      observations.clear();
      claims.clear();
    },
  };
}

/** Whether a status can be seen after another one. */
function canBecome(from: string, to: string): boolean {
  return from === to || (NEXT[from] ?? []).some((next) => canBecome(next, to));
}

function checkMove(violated: Violated, before: Resource | undefined, after: Resource): void {
  if (before === undefined || before.status === after.status) return;
  if (!(NEXT[before.status] ?? []).includes(after.status)) {
    violated("statuses move forward only", `${after.id} moved from ${before.status} to ${after.status}`);
  }
}

/** Without a declaration, a log that lacks what it had before a restore is taken for one that was tampered with (EV6). */
function checkDeclaration(violated: Violated, write: Write): void {
  const { checkpoint } = (write.kind === "set" ? write.value : {}) as { readonly checkpoint?: string };
  if (checkpoint !== undefined && claimsOf(checkpoint)["restored"] === undefined) {
    violated("the log declares a restore", "a checkpoint after the restore has no `restored`");
  }
}

/** A crash can come after any commit, so each commit alone must keep payments and consumed consents together. */
function checkPayments(violated: Violated, paymentOf: Map<string, string>, writes: readonly Write[]): void {
  const set = (kind: string): Resource[] =>
    writes.flatMap((write) => write.kind === "set" && write.key[0] === kind ? [write.value as Resource] : []);
  for (const { id, consentId = "" } of set("payment")) {
    const known = paymentOf.get(consentId);
    if (known !== undefined && known !== id) {
      violated("one payment a consent", `the consent ${consentId} has the payments ${known} and ${id}`);
    }
    paymentOf.set(consentId, id);
  }
  for (const { id, status } of set("consent")) {
    if (status === "Consumed" && !paymentOf.has(id)) {
      violated("a consumed consent has its payment", `the consent ${id} was consumed without a payment`);
    }
  }
}

/** Errors that tell of what is wrong around the platform. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set([
  "order.dead",
  "event.dead",
  "clock.behind_store",
  "clock.stored_ahead",
]);

/** An attempt that a slow store has held up for too long writes nothing (contract LS3). An order is pushed again later. */
const OF_SLOW_STORE = "platform.unavailable: slow: ";

/** Logged by a process that finds the clock of another one ahead of its own. */
const BEHIND_PROCESS = "clock.behind_process";

/** Errors in the log, and single-use tokens that are called used before they were. */
function watchReplays(violated: Violated, mayBeBehind: boolean): Pick<Watch, "logged" | "delivering"> {
  const deliveries = new Map<string, Delivery>();
  const copies = new Map<string, number>(); // of a request, without forgeries: any of them may be the first to commit
  const isOnly = (delivery: Delivery | undefined): boolean =>
    delivery !== undefined && !delivery.isForged && copies.get(delivery.request) === 1;
  return {
    delivering(interactionId, delivery) {
      const { request, isForged } = delivery;
      if (!isForged) copies.set(request, (copies.get(request) ?? 0) + 1);
      deliveries.set(interactionId, delivery);
    },
    logged(line) {
      if (!line.includes('"level":"error"') && !line.includes('"used before"')) return; // as nearly all are
      const { level, event, detail, interactionId } = JSON.parse(line) as LogLine;
      const isExpected = EXPECTED_ERRORS.has(event) || event === BEHIND_PROCESS && mayBeBehind;
      const isCaused = [INJECTED, OF_SLOW_STORE].some((cause) => line.includes(cause));
      if (level === "error" && !isExpected && !isCaused) violated("no unexpected error", line);
      if (
        event === "request.rejected" && detail === "used before" &&
        isOnly(deliveries.get(String(interactionId)))
      ) {
        violated("a token is used up by its owner alone", `the first use of a token was rejected: ${line}`);
      }
    },
  };
}
