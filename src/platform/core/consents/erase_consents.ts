/**
 * Deletes the personal data of consents that were never authorised, some days after they were rejected or expired
 * (contract EN10, EN15). The consent's history stays. Such a consent does not exist for participants any more.
 */
import { errorText, inRandomBatches } from "../../../base/kernel/batches.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { Reader } from "../../../base/store/store.ts";
import type { Log } from "../../observed/log_events.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import { stageOutOfRows } from "../../evidence/audit_trail.ts";
import { storedPiecesOf } from "../../evidence/read_case.ts";
import type { ConsentStore, Deadline } from "./consent_store.ts";
import { eraseCustomer } from "./consent.ts";

export interface EraseConsentsDeps extends TransactDeps {
  readonly log: Log;
  readonly consents: ConsentStore;
  /** Whether the orders of the consent's bank are held, so that the consent may turn out to be paid (Decision G9). */
  readonly isHeld: (from: Reader, bank: BankCode) => Promise<boolean>;
  /** Returns the time by which retention periods are judged, milliseconds. */
  readonly keptNow: () => Promise<number>;
  /** Returns 0 to less than 1, for the order of a pass. */
  readonly random: () => number;
}

/** Consents of a pass, earliest first. Each is one commit. The next pass starts a second later. */
const PAGE = 50;
/** Pieces of evidence that one commit deletes. If there are more, the next pass deletes them. */
const MAX_PIECES = 100;
/**
 * A consent whose bank is held, or that cannot be handled, is looked at again after this time, milliseconds. Otherwise it
 * would keep the later ones from their turn.
 */
const AGAIN_MS = 3_600_000;

/**
 * Handles consents whose time to keep them has passed, up to a limit. Several processes share them by a random order.
 *
 * @returns the number of consents that this process handled
 */
export async function eraseConsents(deps: EraseConsentsDeps): Promise<number> {
  const now = await deps.keptNow();
  const due = await deps.consents.dueToErase(now, PAGE);
  let handled = 0;
  for (const deadline of inRandomBatches(due, 1, deps.random).flat()) {
    try {
      if (await erase(deps, deadline, now)) handled++;
    } catch (error) {
      deps.log.error("consent.not_erased", { consentId: deadline.consentId, error: errorText(error) });
      await putOff(deps, deadline, now + AGAIN_MS);
    }
  }
  return handled;
}

/** Gives the consent another time, unless it was handled meanwhile. @param at milliseconds */
async function putOff(deps: EraseConsentsDeps, deadline: Deadline, at: number): Promise<void> {
  await transact(deps, { what: "consent to erase" }, async (tx) => {
    if (await deps.consents.standsDeadline(tx, deadline)) {
      await deps.consents.stageErasureLater(tx, deadline, at);
    }
  });
}

/** Returns false if another process was faster. @param keptNow milliseconds */
async function erase(deps: EraseConsentsDeps, deadline: Deadline, keptNow: number): Promise<boolean> {
  return await transact(deps, { what: "erased consent" }, async (tx) => {
    const [entry, stands] = await Promise.all([
      deps.consents.find(tx, deadline.consentId),
      deps.consents.standsDeadline(tx, deadline),
    ]);
    if (!stands) return false;
    if (entry !== null && await deps.isHeld(tx, entry.value.bank)) {
      await deps.consents.stageErasureLater(tx, deadline, keptNow + AGAIN_MS);
      return true;
    }
    const stored = await storedPiecesOf(deps.store, deadline.consentId); // after the consent: a further piece changes it
    const isLast = stored.length <= MAX_PIECES;
    const rejected = entry?.value.status === "Rejected" ? entry : undefined; // else deleted, or recovered after a restore
    if (isLast || rejected === undefined) deps.consents.stageDeadlineGone(tx, deadline);
    if (rejected === undefined) return true;
    const now = deps.clock();
    const deleted = stored.slice(0, MAX_PIECES);
    deps.consents.stageCustomerErased(
      tx,
      rejected,
      eraseCustomer(rejected.value, now, "consent"),
      deleted.map(({ place }) => place),
      isLast,
    );
    stageOutOfRows(tx, deleted);
    return true;
  });
}
