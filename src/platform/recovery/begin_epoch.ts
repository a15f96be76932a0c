/**
 * Begins a new epoch if the store is a restored copy. Grants from before the restore may have been used after the
 * copy was taken, so they become void, and every bank's orders are held until they are reconciled (Decision G9). Runs
 * before the first request. Each step can be repeated and the mark is removed last, so after a crash the next start
 * begins again.
 */
import { asOf, type Consent, moved } from "../consents/consent.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import { type Clock, wireDateTime } from "../../base/kernel/clock.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import type { Log } from "../../base/observability/log.ts";
import { record } from "../audit_trail.ts";
import { orderHoldKey } from "../store_keys.ts";
import type { Store } from "../../base/store/store.ts";
import { begin, commit, remove, set } from "../../base/store/transaction.ts";
import type { Ending, EpochStore } from "./epoch_store.ts";
import { type Epoch, type Hold, NOTHING_COMPARED } from "./hold.ts";
import { holdHistoryOf, type HoldStore } from "./hold_store.ts";

export interface BeginEpochDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly consents: ConsentStore;
  readonly epochs: EpochStore;
  readonly holds: HoldStore;
}

/** Deleted. The platform then responds as for a token or code that it never issued. */
const DELETED = ["access_token", "authorization_code", "open_flow"];
/** Expired. A customer who returns is redirected to the TPP as after any expired authorization session. */
const ENDED = ["pushed_request", "interaction"];
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
  for (const prefix of ENDED) await endAll(deps, prefix, epoch.startedAt);
  const tx = begin();
  deps.epochs.stageEpoch(tx, epoch, mark);
  if (!await commit(deps.store, deps.clock, tx)) {
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
    const before = (await deps.holds.find(bank))?.value.since ?? Infinity; // not reconciled since an earlier restore
    const since = Math.min(Math.min(epoch.copy.takenAt, oldest.get(bank) ?? Infinity) - MARGIN_MS, before);
    const hold: Hold = {
      bank,
      epoch: epoch.id,
      restoredAt: epoch.startedAt,
      since,
      comparison: NOTHING_COMPARED,
    };
    const tx = begin();
    set(tx, orderHoldKey(bank), hold);
    record(tx, holdHistoryOf(bank), {
      at: epoch.startedAt,
      event: "order_hold.begun",
      actor: "platform",
      reason: restoredFrom(epoch),
    });
    await mustCommit(deps, tx);
  }
  return banks;
}

async function voidAuthorizedConsents(deps: BeginEpochDeps, epoch: Epoch): Promise<number> {
  let voided = 0;
  const cause = { actor: "platform", reason: restoredFrom(epoch) };
  for await (const consents of deps.epochs.openConsents()) {
    for (const entry of consents.filter(({ value }) => isUsable(value, epoch.startedAt))) {
      const tx = begin();
      deps.consents.stageChange(
        tx,
        entry,
        moved(entry.value, "void", epoch.startedAt),
        cause,
        epoch.startedAt,
      );
      await mustCommit(deps, tx);
      voided++;
    }
  }
  return voided;
}

function isUsable(consent: Consent, now: number): boolean {
  return asOf(consent, now).status === "Authorized";
}

async function deleteAll(deps: BeginEpochDeps, prefix: string): Promise<void> {
  for await (const entries of deps.epochs.below(prefix)) {
    const tx = begin();
    for (const { key } of entries) remove(tx, key);
    await mustCommit(deps, tx);
  }
}

async function endAll(deps: BeginEpochDeps, prefix: string, now: number): Promise<void> {
  for await (const entries of deps.epochs.below<Ending>(prefix)) {
    const tx = begin();
    for (const { key, value } of entries.filter(({ value }) => value.expiresAt > now)) {
      set(tx, key, { ...value, expiresAt: now }, now + KEPT_MS);
    }
    await mustCommit(deps, tx);
  }
}

async function mustCommit(deps: BeginEpochDeps, tx: ReturnType<typeof begin>): Promise<void> {
  if (!await commit(deps.store, deps.clock, tx)) throw new Error("the store changed during the restore");
}

function restoredFrom({ copy }: Epoch): string {
  return `the store was restored from a copy of ${wireDateTime(copy.takenAt)}`;
}
