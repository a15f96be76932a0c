/**
 * Begins a new epoch if the store is a restored copy. Grants from before the restore may have been used after the
 * copy was taken, so they become void, and every bank's orders are held until they are reconciled (Decision G9). Runs
 * before the first request. Each step can be repeated and the mark is removed last, so after a crash the next start
 * begins again. Every step checks the mark, so a process that began at the same time and is slower changes nothing of
 * the epoch that another one has begun.
 */
import { asOf, type Consent, moveConsent } from "../../core/consents/consent.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { OrderOutboxStore } from "../../core/payments/order_outbox_store.ts";
import { markRestored } from "../../core/payments/payment_order.ts";
import type { LogStore } from "../../evidence/evidence_log/log_store.ts";
import type { Log } from "../../observed/log_events.ts";
import type { Entry } from "../../../base/store/store.ts";
import {
  check,
  commitIfUnchanged,
  remove,
  type TransactDeps,
  type Transaction,
} from "../../../base/store/transaction.ts";
import {
  findCopyMark,
  findPayments,
  listBankCodes,
  listEntries,
  listOpenConsents,
  listOutboxOrders,
  stageEpoch,
} from "./epoch_store.ts";
import type { CopyMark, Epoch } from "./hold.ts";
import type { Ending, StoredRecord } from "../../../base/store/record.ts";
import { lastOfHolds, MARGIN_MS, restoredFrom, stageHold } from "./hold_store.ts";

export interface BeginEpochDeps extends TransactDeps {
  readonly log: Log;
  readonly consents: ConsentStore;
  readonly outbox: Pick<OrderOutboxStore, "stageChange">;
  readonly evidenceLog: Pick<LogStore, "head">;
  /** Those of the store. Each declares what a restore does to it. */
  readonly records: readonly RestoredRecord[];
}

/** A record as a restore sees it. */
export type RestoredRecord = Pick<StoredRecord<unknown>, "name" | "keyParts" | "restore">;

/** A new epoch that has not begun. */
interface Beginning extends BeginEpochDeps {
  readonly epoch: Epoch;
  readonly mark: Entry<CopyMark>;
}

/** Expired entries are stored this long, milliseconds (Decision G1). */
const KEPT_MS = 86_400_000;

/** Voids grants and holds orders if the store is a restored copy. Otherwise returns at once. */
export async function beginEpoch(deps: BeginEpochDeps): Promise<void> {
  const mark = await findCopyMark(deps.store);
  if (mark === null) return;
  const epoch: Epoch = { id: crypto.randomUUID(), startedAt: deps.clock(), copy: mark.value };
  const beginning: Beginning = { ...deps, epoch, mark };
  const held = await holdOrders(beginning);
  const consents = await voidAuthorizedConsents(beginning);
  for (const record of deps.records) {
    // The platform then responds as for a token or code that it never issued.
    if (record.restore === "deleted") await deleteAll(beginning, record);
    // A customer who returns is redirected to the TPP as after any expired authorization session.
    if (ends(record)) await endAll(beginning, record);
  }
  const logHead = await deps.evidenceLog.head();
  if (!await commitIfUnchanged(deps, (tx) => stageEpoch(tx, epoch, mark, logHead))) {
    throw new Error("another process began the epoch; start again");
  }
  deps.log.warn("store.restored", {
    epoch: epoch.id,
    copyTakenAt: wireDateTime(mark.value.takenAt),
    banksHeld: held.length,
    consentsVoided: consents,
  });
}

async function holdOrders(deps: Beginning): Promise<readonly BankCode[]> {
  const { epoch } = deps;
  const oldest = new Map<BankCode, number>();
  for await (const orders of listOutboxOrders(deps.store)) {
    await mustCommit(deps, (tx) => { // the copy lacks the pushes since it was taken
      for (const order of orders) deps.outbox.stageChange(tx, order, markRestored(order.value));
    });
    const payments = await findPayments(deps.store, orders.map(({ value }) => value.paymentId));
    for (const { bank, createdAt } of payments) {
      oldest.set(bank, Math.min(createdAt, oldest.get(bank) ?? Infinity));
    }
  }
  const banks = await listBankCodes(deps.store);
  for (const bank of banks) {
    const last = await lastOfHolds(deps.store, bank); // it may have a hold since an earlier restore
    const earliest = Math.min(epoch.copy.takenAt, oldest.get(bank) ?? Infinity) - MARGIN_MS;
    const since = Math.min(earliest, last.hold?.value.since ?? Infinity);
    const { id, startedAt } = epoch;
    const hold = { bank, epoch: id, restoredAt: startedAt, since };
    await mustCommit(deps, (tx) => stageHold(tx, last, hold, startedAt, restoredFrom(epoch)));
  }
  return banks;
}

async function voidAuthorizedConsents(deps: Beginning): Promise<number> {
  const { epoch } = deps;
  let count = 0;
  const cause = { actor: "platform", reason: restoredFrom(epoch) };
  for await (const consents of listOpenConsents(deps.store)) {
    for (const entry of consents) {
      if (isUsable(entry.value, epoch.startedAt)) {
        const voided = moveConsent(entry.value, "void", epoch.startedAt);
        await mustCommit(deps, (tx) => deps.consents.stageChange(tx, entry, voided, cause, epoch.startedAt));
        count++;
      } else await endSessionsAtBank(deps, entry);
    }
  }
  return count;
}

/** A customer may have returned since the copy was taken, which has fixed the accounts (Decision G2). */
async function endSessionsAtBank(deps: Beginning, consent: Entry<Consent>): Promise<void> {
  if (consent.value.sessionsAtBank === undefined) return;
  await mustCommit(deps, (tx) => deps.consents.stageAtBank(tx, consent, { sessionsAtBank: {} }));
}

function isUsable(consent: Consent, now: number): boolean {
  return asOf(consent, now).status === "Authorized";
}

/** The type of a declaration lets only values that expire be `ended`. */
function ends(record: RestoredRecord): record is StoredRecord<Ending> {
  return record.restore === "ended";
}

async function deleteAll(deps: Beginning, record: RestoredRecord): Promise<void> {
  for await (const entries of listEntries(deps.store, record)) {
    await mustCommit(deps, (tx) => {
      for (const { key } of entries) remove(tx, key);
    });
  }
}

async function endAll(deps: Beginning, record: StoredRecord<Ending>): Promise<void> {
  const now = deps.epoch.startedAt;
  for await (const entries of listEntries(deps.store, record)) {
    const open = entries.map(record.decode).filter(({ value }) => value.expiresAt > now);
    await mustCommit(deps, (tx) => {
      for (const { key, value } of open) record.set(tx, key, { ...value, expiresAt: now }, now + KEPT_MS);
    });
  }
}

/** @throws {Error} if another process has begun the epoch, or a checked entry has changed */
async function mustCommit(deps: Beginning, stage: (tx: Transaction) => void): Promise<void> {
  const { key, version } = deps.mark;
  const done = await commitIfUnchanged(deps, (tx) => {
    check(tx, key, version);
    stage(tx);
  });
  if (!done) throw new Error("the store changed during the restore");
}
