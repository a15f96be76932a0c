/**
 * Records expired consents: a consent whose deadline has passed becomes `Rejected` at the time of the deadline, so
 * that its history is complete (contract CT12, CT15). Reads do not depend on it, because they evaluate deadlines
 * themselves.
 */
import { isStoreFailure } from "../../base/kernel/api_error.ts";
import type { Log } from "../../base/observability/log.ts";
import { transact, type TransactDeps } from "../../base/store/transaction.ts";
import { asOf } from "./consent.ts";
import type { ConsentStore, Deadline } from "./consent_store.ts";

export interface SweepConsentsDeps extends TransactDeps {
  readonly log: Log;
  readonly consents: ConsentStore;
}

/**
 * Deadlines that are handled in one commit. A commit costs one fsync, whatever its size. The storage thread runs one
 * commit at a time, so a batch must stay short for the requests that wait for it.
 */
const BATCH = 20;
/** Bounds a pass. The next one starts a second later, so a backlog leaves time for requests. */
const MAX_BATCHES = 250;

/**
 * Handles passed deadlines, earliest first, up to a limit.
 *
 * @returns the number of handled deadlines
 */
export async function sweepConsents(deps: SweepConsentsDeps): Promise<number> {
  const now = deps.clock();
  let handled = 0;
  let after: Deadline | undefined;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const passed = await deps.consents.deadlinesBefore(now, BATCH, after);
    handled += await expireAll(deps, passed, now);
    if (passed.length < BATCH) break;
    after = passed.at(-1); // skips deadlines that fail
  }
  return handled;
}

async function expireAll(deps: SweepConsentsDeps, passed: readonly Deadline[], now: number): Promise<number> {
  if (passed.length === 0) return 0;
  if (await expire(deps, passed, now).catch(notByStore)) return passed.length;
  // One of them changed meanwhile or cannot be written. It must not block the others.
  let handled = 0;
  for (const deadline of passed) {
    const { consentId } = deadline;
    try {
      if (await expire(deps, [deadline], now)) handled++;
    } catch (error) {
      notByStore(error);
      const what = error instanceof Error ? error.stack ?? error.message : String(error);
      deps.log.error("consent.not_expired", { consentId, error: what });
    }
  }
  return handled;
}

/**
 * If the store failed, the pass ends, because no write can succeed now.
 *
 * @throws that failure
 */
function notByStore(error: unknown): false {
  if (isStoreFailure(error)) throw error;
  return false;
}

/** Returns false if one of the consents changed meanwhile. The next pass reads it again. */
async function expire(deps: SweepConsentsDeps, passed: readonly Deadline[], now: number): Promise<boolean> {
  const options = { what: "expired consents", attempts: 1, lost: () => false };
  return await transact(deps, options, async (tx) => {
    const entries = await Promise.all(passed.map(({ consentId }) => deps.consents.find(tx, consentId)));
    for (const deadline of passed) deps.consents.stageDeadlineGone(tx, deadline);
    for (const entry of entries) {
      if (entry === null) continue;
      const settled = asOf(entry.value, now);
      if (settled.status === entry.value.status) continue; // its status changed, and its new deadline has its own entry
      const reason = entry.value.status === "Authorized" ? "not used in time" : "not authorised in time";
      deps.consents.stageChange(tx, entry, settled, { actor: "clock", reason }, settled.statusUpdatedAt);
    }
    return true;
  });
}
