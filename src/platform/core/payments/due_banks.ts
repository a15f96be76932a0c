/**
 * Remembers when each bank's queue is due next, so that a pass with no due order costs the same for any number of banks.
 * A process learns of its own commits at once. What another process adds is that process's work. If that process ends, or
 * a remembered time is too late, the part of the queues that each pass reads again finds it.
 */
import { MAX_SKEW_MS, type WallTime } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { PushMemory } from "../../events/delivery/push_memory.ts";
import { isDue } from "../../events/delivery/retry_delays.ts";
import type { OrderOutboxStore, OrderPlace } from "./order_outbox_store.ts";

export interface DueBanks {
  /** Returns the banks with orders that are due at `now`, or that this process has waited for. */
  find(now: WallTime): Promise<readonly BankCode[]>;
}

export interface DueBanksDeps {
  readonly outbox: Pick<OrderOutboxStore, "onQueued" | "firstDue" | "queued">;
  /** Returns the banks whose orders are due although their stored times are later. */
  readonly waitedFor: () => ReturnType<PushMemory["receiversWaitedFor"]>;
}

/** Rows that a pass reads at a time to find queues that it does not know. A bank's further rows are passed over. */
const ROWS = 20;
/** Reads of a pass: 160 banks with an order each, or 8 with a backlog. */
const READS = 8;
/** Bounds the pass that reads all queues. */
const MAX_READS = 10_000;

/** Opens the memory of a process. Its first pass reads all queues. */
export function openDueBanks({ outbox, waitedFor }: DueBanksDeps): DueBanks {
  const dueAtOf = new Map<BankCode, WallTime>();
  const note = (bank: BankCode, dueAt: WallTime): void => {
    dueAtOf.set(bank, Math.min(dueAt, dueAtOf.get(bank) ?? Infinity));
  };
  outbox.onQueued(note);
  const isBackwards = openStepWatch();
  const queues = openQueueReading(outbox, note);
  const hasDue = async (bank: BankCode, now: WallTime, isWaited: boolean): Promise<boolean> => {
    const before = dueAtOf.get(bank) ?? now;
    dueAtOf.delete(bank); // before the read, so that what is committed meanwhile is noted again
    try {
      const dueAt = await outbox.firstDue(bank, now);
      if (dueAt !== undefined) note(bank, dueAt);
      return dueAt !== undefined && (isWaited || isDue(dueAt, now));
    } catch (error) {
      note(bank, before);
      throw error;
    }
  };
  return {
    async find(now) {
      if (isBackwards(now)) queues.restart();
      await queues.read(now);
      const waited = waitedFor();
      const due: BankCode[] = [];
      for (const [bank, dueAt] of [...dueAtOf]) {
        const isWaited = waited.has(bank);
        if ((isWaited || isDue(dueAt, now)) && await hasDue(bank, now, isWaited)) due.push(bank);
      }
      return due;
    },
  };
}

/** Reads all queues, and then a part of them in each pass. */
function openQueueReading(
  outbox: Pick<OrderOutboxStore, "queued">,
  note: (bank: BankCode, dueAt: WallTime) => void,
): { restart(): void; read(now: WallTime): Promise<void> } {
  let [isComplete, after]: [boolean, OrderPlace | undefined] = [false, undefined];
  return {
    restart: () => void ([isComplete, after] = [false, undefined]),
    async read(now) {
      for (let read = 0; read < (isComplete ? READS : MAX_READS); read++) {
        const { rows, next } = await outbox.queued(after, now, ROWS);
        for (const { bank, dueAt } of rows) note(bank, isDue(dueAt, now) ? now : dueAt);
        after = next;
        if (next === undefined) return void (isComplete = true);
      }
    },
  };
}

/** Returns whether the clock was put back so far that the orders that seem too far ahead are due. Once for each step. */
function openStepWatch(): (now: WallTime) => boolean {
  let latest = -Infinity;
  return (now) => {
    const isStep = now + MAX_SKEW_MS < latest;
    latest = isStep ? now : Math.max(latest, now);
    return isStep;
  };
}
