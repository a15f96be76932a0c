/**
 * Records expired consents: a consent whose deadline has passed becomes `Rejected` at the time of the deadline, so
 * that its history is complete (contract CT12, CT15) and its TPP gets `consent-expired` (contract EVT1). Reads do not
 * depend on it, because they evaluate deadlines themselves.
 */
import { errorText, handleBatch, inRandomBatches } from "../../../base/kernel/batches.ts";
import type { Log } from "../../observed/log_events.ts";
import type { Entry } from "../../../base/store/store.ts";
import { transact, type TransactDeps, type Transaction } from "../../../base/store/transaction.ts";
import { asOf, type Consent } from "./consent.ts";
import type { ConsentStore, Deadline } from "./consent_store.ts";

export interface SweepConsentsDeps extends TransactDeps {
  readonly log: Log;
  readonly consents: ConsentStore;
  /** Returns 0 to less than 1, for the order of batches. */
  readonly random: () => number;
}

/** Number of deadlines that a pass reads at a time, earliest first. Within a page their order is random. */
const PAGE = 200;
/**
 * Deadlines that are handled in one commit. A commit costs one fsync, whatever its size. The storage thread runs one
 * commit at a time, so a batch must stay short for the requests that wait for it.
 */
const BATCH = 14;
/** Bounds a pass. The next one starts a second later, so a backlog leaves time for requests. */
const MAX_PAGES = 25;

/**
 * Handles passed deadlines, earliest first, up to a limit. Several processes share them by handling batches in a random
 * order.
 *
 * @returns the number of deadlines that this process handled
 */
export async function sweepConsents(deps: SweepConsentsDeps): Promise<number> {
  const now = deps.clock();
  let handled = 0;
  let after: Deadline | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const passed = await deps.consents.deadlinesBefore(now, PAGE, after);
    for (const batch of inRandomBatches(passed, BATCH, deps.random)) {
      handled += await expireAll(deps, batch, now);
    }
    if (passed.length < PAGE) break;
    after = passed.at(-1); // skips deadlines that fail
  }
  return handled;
}

async function expireAll(deps: SweepConsentsDeps, passed: readonly Deadline[], now: number): Promise<number> {
  const counts = await handleBatch(passed, (some) => expire(deps, some, now), ({ consentId }, error) => {
    deps.log.error("consent.not_expired", { consentId, error: errorText(error) });
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns the number of handled deadlines. */
async function expire(deps: SweepConsentsDeps, passed: readonly Deadline[], now: number): Promise<number> {
  return await transact(deps, { what: "expired consents" }, async (tx) => {
    const found = await Promise.all(passed.map((deadline) => openDeadline(deps, tx, deadline)));
    for (const [index, deadline] of passed.entries()) {
      const entry = found[index];
      if (entry === undefined) continue;
      deps.consents.stageDeadlineGone(tx, deadline);
      if (entry !== null) expireOne(deps, tx, entry, now);
    }
    return found.filter((entry) => entry !== undefined).length;
  });
}

/** Returns the deadline's consent, or undefined if another process has handled the deadline. */
async function openDeadline(
  { consents }: SweepConsentsDeps,
  tx: Transaction,
  deadline: Deadline,
): Promise<Entry<Consent> | null | undefined> {
  const [entry, stands] = await Promise.all([
    consents.find(tx, deadline.consentId),
    consents.standsDeadline(tx, deadline),
  ]);
  return stands ? entry : undefined;
}

function expireOne(
  { consents }: SweepConsentsDeps,
  tx: Transaction,
  entry: Entry<Consent>,
  now: number,
): void {
  const settled = asOf(entry.value, now);
  if (settled.status === entry.value.status) return; // its status changed, and its new deadline has its own entry
  const reason = entry.value.status === "Authorized" ? "not used in time" : "not authorised in time";
  consents.stageChange(tx, entry, settled, { actor: "clock", reason }, settled.statusUpdatedAt);
}
