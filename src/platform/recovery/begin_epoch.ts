/**
 * Begins a new epoch if the store is a restored copy. Grants from before the restore may have been used after the
 * copy was taken, so they become void, and every bank's orders are held until they are reconciled (Decision G9). Runs
 * before the first request. Each step can be repeated and the mark is removed last, so after a crash the next start
 * begins again.
 */
import { asOf, type Consent, moved } from "../consents/consent.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import type { Log } from "../log_events.ts";
import { record } from "../audit_trail.ts";
import { orderHoldKey } from "../store_keys.ts";
import {
  commitIfUnchanged,
  remove,
  type TransactDeps,
  type Transaction,
} from "../../base/store/transaction.ts";
import type { Ending, EpochStore } from "./epoch_store.ts";
import { type Epoch, type Hold, NOTHING_COMPARED } from "./hold.ts";
import { authorizationSessionRecord } from "../frontchannel/authorization_session_store.ts";
import { pushedRequestRecord } from "../oauth/pushed_request_store.ts";
import type { StoredRecord } from "../../base/store/record.ts";
import { holdHistoryOf, type HoldStore, orderHoldRecord } from "./hold_store.ts";

export interface BeginEpochDeps extends TransactDeps {
  readonly log: Log;
  readonly consents: ConsentStore;
  readonly epochs: EpochStore;
  readonly holds: HoldStore;
}

/** Deleted. The platform then responds as for a token or code that it never issued. */
const DELETED = ["access_token", "authorization_code", "open_flow"];
/** Expired entries are stored this long, milliseconds (Decision G1). */
const KEPT_MS = 86_400_000;
/** Tolerance between the times of the copy, the bank and the platform, milliseconds. */
const MARGIN_MS = 3_600_000;

/** Voids grants and holds orders if the store is a restored copy. Otherwise returns at once. */
export async function beginEpoch(deps: BeginEpochDeps): Promise<void> {
  const mark = await deps.epochs.copyMark();
  if (mark === null) return;
  const epoch: Epoch = { id: crypto.randomUUID(), startedAt: deps.clock(), copy: mark.value };
  const held = await holdOrders(deps, epoch);
  const consents = await voidAuthorizedConsents(deps, epoch);
  for (const prefix of DELETED) await deleteAll(deps, prefix);
  // A customer who returns is redirected to the TPP as after any expired authorization session.
  await endAll(deps, pushedRequestRecord, epoch.startedAt);
  await endAll(deps, authorizationSessionRecord, epoch.startedAt);
  const logHead = await deps.epochs.logHead();
  if (!await commitIfUnchanged(deps, (tx) => deps.epochs.stageEpoch(tx, epoch, mark, logHead))) {
    throw new Error("another process began the epoch; start again");
  }
  deps.log.warn("store.restored", {
    epoch: epoch.id,
    copyTakenAt: wireDateTime(mark.value.takenAt),
    banksHeld: held.length,
    consentsVoided: consents,
  });
}

async function holdOrders(deps: BeginEpochDeps, epoch: Epoch): Promise<readonly BankCode[]> {
  const oldest = new Map<BankCode, number>();
  for await (const payments of deps.epochs.orders()) {
    for (const { bank, createdAt } of payments) {
      oldest.set(bank, Math.min(createdAt, oldest.get(bank) ?? Infinity));
    }
  }
  const banks = await deps.epochs.banks();
  for (const bank of banks) {
    const before = (await deps.holds.find(deps.store, bank))?.value ?? null; // not reconciled since an earlier restore
    const earliest = Math.min(epoch.copy.takenAt, oldest.get(bank) ?? Infinity) - MARGIN_MS;
    const since = Math.min(earliest, before?.since ?? Infinity);
    const hold: Hold = {
      bank,
      epoch: epoch.id,
      restoredAt: epoch.startedAt,
      since,
      comparison: NOTHING_COMPARED,
    };
    await mustCommit(deps, (tx) => {
      const recorded = record(tx, holdHistoryOf(bank), before, {
        at: epoch.startedAt,
        event: "order_hold.begun",
        actor: "platform",
        reason: restoredFrom(epoch),
      });
      orderHoldRecord.set(tx, orderHoldKey(bank), { ...hold, ...recorded });
    });
  }
  return banks;
}

async function voidAuthorizedConsents(deps: BeginEpochDeps, epoch: Epoch): Promise<number> {
  let count = 0;
  const cause = { actor: "platform", reason: restoredFrom(epoch) };
  for await (const consents of deps.epochs.openConsents()) {
    for (const entry of consents.filter(({ value }) => isUsable(value, epoch.startedAt))) {
      const voided = moved(entry.value, "void", epoch.startedAt);
      await mustCommit(
        deps,
        (tx) => deps.consents.stageChange(tx, entry, voided, cause, epoch.startedAt),
      );
      count++;
    }
  }
  return count;
}

function isUsable(consent: Consent, now: number): boolean {
  return asOf(consent, now).status === "Authorized";
}

async function deleteAll(deps: BeginEpochDeps, prefix: string): Promise<void> {
  for await (const entries of deps.epochs.below(prefix)) {
    await mustCommit(deps, (tx) => {
      for (const { key } of entries) remove(tx, key);
    });
  }
}

async function endAll<T extends Ending>(
  deps: BeginEpochDeps,
  record: StoredRecord<T>,
  now: number,
): Promise<void> {
  for await (const entries of deps.epochs.below(record.name)) {
    const open = entries.map(record.decode).filter(({ value }) => value.expiresAt > now);
    await mustCommit(deps, (tx) => {
      for (const { key, value } of open) record.set(tx, key, { ...value, expiresAt: now }, now + KEPT_MS);
    });
  }
}

async function mustCommit(deps: BeginEpochDeps, stage: (tx: Transaction) => void): Promise<void> {
  if (!await commitIfUnchanged(deps, stage)) throw new Error("the store changed during the restore");
}

function restoredFrom({ copy }: Epoch): string {
  return `the store was restored from a copy of ${wireDateTime(copy.takenAt)}`;
}
