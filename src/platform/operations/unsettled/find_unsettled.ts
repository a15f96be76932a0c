/**
 * Background work: finds the payments on which a bank has not decided for long (contract OP34), and counts the disputes whose
 * next step is overdue. Each payment is looked at once when its time has passed, in the order of the bank's payments, and again each minute only if it was undecided. So the
 * commits of payments have no index to keep. Several processes share the search: its place is part of each commit.
 */
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Entry } from "../../../base/store/store.ts";
import {
  check,
  commitIfUnchanged,
  remove,
  type TransactDeps,
  type Transaction,
} from "../../../base/store/transaction.ts";
import { isOverdue } from "../../core/disputes/dispute.ts";
import { listOpenDisputes } from "../../core/disputes/dispute_store.ts";
import { isDecided, type Payment } from "../../core/payments/payment.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import type { BankClient } from "../../core/registration/client.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import { z } from "zod";
import { bankCode, defineRecord, instant, paymentId, text } from "../../../base/store/record.ts";
import { unsettledKey, unsettledSearchKey } from "../../config/store_keys.ts";

/** A payment that was not decided when its time had passed. It may be since. */
interface Unsettled {
  readonly paymentId: PaymentId;
  readonly bank: BankCode;
  /** Milliseconds. */
  readonly createdAt: number;
}

export const unsettledRecord = defineRecord<Unsettled>({
  name: "unsettled",
  keyParts: ["bank code", "time of creation (ms) and payment id"],
  what: "A payment on which its bank has not decided for `PLATFORM_UNSETTLED_HOURS`.",
  schema: z.looseObject({ paymentId, bank: bankCode, createdAt: instant }),
  version: 1,
  lifetime: "Until the bank has decided.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

export const unsettledSearchRecord = defineRecord<{ readonly place: string }>({
  name: "unsettled_search",
  keyParts: ["bank code"],
  what: "The last payment of a bank, by creation, that was searched for one without a decision.",
  schema: z.looseObject({ place: text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

/** The clocks of processes differ by less. */
const MARGIN_MS = 60_000;

/**
 * Returns what stages an undecided payment that the search may have passed: a statement recovers it, or its bank decides
 * after all, although an operator had closed its order. One that is younger the search still comes to.
 *
 * @param unsettledMs from its creation
 */
export function undecidedAfterSearch(
  clock: Clock,
  unsettledMs: number,
): (tx: Transaction, payment: Pick<Payment, "id" | "bank" | "createdAt">) => void {
  return (tx, { id: paymentId, bank, createdAt }) => {
    if (createdAt > clock() - unsettledMs + MARGIN_MS) return;
    unsettledRecord.set(tx, unsettledKey(bank, createdAt, paymentId), { paymentId, bank, createdAt });
  };
}

export interface ReadUnsettledDeps extends TransactDeps {
  readonly payments: Pick<PaymentStore, "find" | "listOrders">;
  readonly listBanks: () => Promise<readonly BankClient[]>;
}

export interface FindUnsettledDeps extends ReadUnsettledDeps {
  readonly clock: Clock;
  readonly steady: SteadyClock;
  readonly metrics: Pick<PlatformMetrics, "replace" | "set">;
  /** Milliseconds from its creation. */
  readonly unsettledMs: number;
}

const EVERY_MS = 60_000;
/** Payments of a commit. */
const PAGE = 200;
/** Pages of a bank in one pass. The next pass goes on. */
const MAX_PAGES = 50;
/** Of one bank that are shown and counted. More are found when these are decided. */
const MAX_UNSETTLED = 1000;

/** Entries of a commit that checks each of them. */
const FORGOTTEN = 100;

/** Disputes that are looked at. More are when these have ended. */
const MAX_DISPUTES = 1000;

/** Opens the job. It returns how many it has found, and 0 at once unless a minute has passed. @throws {StoreFailure} */
export function openUnsettledSearch(deps: FindUnsettledDeps): (isStopped: () => boolean) => Promise<number> {
  let nextAt = -Infinity;
  return async (isStopped) => {
    if (deps.steady() < nextAt) return 0;
    nextAt = deps.steady() + EVERY_MS;
    let found = 0;
    const counted: { readonly labels: { readonly bank: string }; readonly value: number }[] = [];
    for (const { code } of await deps.listBanks()) {
      if (isStopped()) return found;
      found += await search(deps, code);
      counted.push({ labels: { bank: code }, value: await forgetDecided(deps, code) });
    }
    deps.metrics.replace("platform_payments_unsettled", counted);
    const disputes = await listOpenDisputes(deps.store, MAX_DISPUTES);
    const overdue = disputes.filter((dispute) => isOverdue(dispute, deps.clock())).length;
    deps.metrics.set("platform_disputes_overdue", {}, overdue);
    return found;
  };
}

async function search(deps: FindUnsettledDeps, bank: BankCode): Promise<number> {
  const until = deps.clock() - deps.unsettledMs;
  let found = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const former = await unsettledSearchRecord.get(deps.store, unsettledSearchKey(bank));
    const listed = await deps.payments.listOrders(bank, former?.value.place, PAGE);
    const old = listed.filter(({ createdAt }) => createdAt <= until);
    const place = old.at(-1)?.place;
    if (place === undefined) break;
    const unsettled = old.flatMap(({ payment, createdAt }) =>
      payment === undefined || isSettled(payment) ? [] : [{ paymentId: payment.id, bank, createdAt }]
    );
    const isCommitted = await commitIfUnchanged(deps, (tx) => {
      unsettledSearchRecord.replace(tx, unsettledSearchKey(bank), former, { place });
      for (const one of unsettled) {
        unsettledRecord.set(tx, unsettledKey(bank, one.createdAt, one.paymentId), one);
      }
    });
    if (!isCommitted) break; // another process searches
    found += unsettled.length;
    if (old.length < PAGE) break;
  }
  return found;
}

/** Returns the payments of a bank that are still undecided, oldest first. */
export async function readUnsettled(deps: ReadUnsettledDeps, bank: BankCode): Promise<readonly Payment[]> {
  return (await readFound(deps, bank)).flatMap(({ payment }) => payment === undefined ? [] : payment);
}

/** Forgets the payments of a bank that are decided. Returns how many are not. */
async function forgetDecided(deps: ReadUnsettledDeps, bank: BankCode): Promise<number> {
  const found = await readFound(deps, bank);
  const decided = found.filter(({ payment }) => payment === undefined);
  for (let from = 0; from < decided.length; from += FORGOTTEN) {
    await commitIfUnchanged(deps, (tx) => {
      for (const { entry: { key, version } } of decided.slice(from, from + FORGOTTEN)) {
        check(tx, key, version); // a bank may take the order of a payment that an operator has closed
        remove(tx, key);
      }
    });
  }
  return found.length - decided.length;
}

interface Found {
  readonly entry: Entry<Unsettled>;
  /** Undefined if it is decided by now. */
  readonly payment: Payment | undefined;
}

async function readFound(
  { store, payments }: ReadUnsettledDeps,
  bank: BankCode,
): Promise<readonly Found[]> {
  const entries = await unsettledRecord.list(store, { prefix: unsettledKey(bank), limit: MAX_UNSETTLED });
  return await Promise.all(entries.map(async (entry) => {
    const payment = (await payments.find(store, entry.value.paymentId))?.value;
    return { entry, payment: isSettled(payment) ? undefined : payment };
  }));
}

/** The payment of a case that has ended was decided. */
function isSettled(payment: Payment | undefined): boolean {
  return payment === undefined || payment.personalData.state === "erased" || isDecided(payment);
}
