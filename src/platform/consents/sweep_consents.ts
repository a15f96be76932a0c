/**
 * Writes down what has already happened: consents whose deadline has passed become `Rejected`, with the deadline as their
 * time, so that the history is complete and nobody has to work it out again (contract CT12, CT15).
 */
import type { Clock } from "../../base/kernel/clock.ts";
import type { Store } from "../../base/store/store.ts";
import { begin, commit } from "../../base/store/transaction.ts";
import { asOf } from "./consent.ts";
import type { ConsentStore, Deadline } from "./consent_store.ts";

/** What it needs. */
export interface SweepConsentsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly consents: ConsentStore;
}

const BATCH = 100;

/** Sweeps at most a batch; gives how many deadlines it dealt with. */
export async function sweepConsents(deps: SweepConsentsDeps): Promise<number> {
  const passed = await deps.consents.deadlinesBefore(deps.clock(), BATCH);
  await Promise.all(passed.map((deadline) => expire(deps, deadline)));
  return passed.length;
}

async function expire(deps: SweepConsentsDeps, deadline: Deadline): Promise<void> {
  const entry = await deps.consents.find(deadline.consentId);
  const tx = begin();
  deps.consents.stageDeadlineGone(tx, deadline);
  if (entry !== null) {
    const settled = asOf(entry.value, deps.clock());
    const reason = entry.value.status === "Authorized" ? "not used in time" : "not authorised in time";
    if (settled.status !== entry.value.status) {
      deps.consents.stageChange(tx, entry, settled, { actor: "clock", reason }, settled.statusUpdatedAt);
    }
  }
  await commit(deps.store, deps.clock, tx); // a conflict means that it moved on: its new deadline is noted elsewhere
}
