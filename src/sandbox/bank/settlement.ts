/**
 * Plays settlement: some time after an order was accepted it reports the debit as booked, then the credit
 * (contract PT5, PT6; Decision D3). Timers come from outside, so that they can be held or cancelled.
 */
import type { BankClock, BankLog } from "./bank_profile.ts";
import { PlatformRejected, type StatusReport } from "./platform_client.ts";

/** Runs the task after the delay, milliseconds; the result cancels it. */
export type Schedule = (task: () => Promise<void>, delayMs: number) => () => void;

/** Settlement of one bank's orders. */
export interface Settlement {
  /** Starts the clock for an order that was just accepted, or goes on from the status it had reached. */
  readonly begin: (domesticPaymentId: string, reached?: string) => void;
  /** Cancels everything that is still to be reported. */
  readonly stop: () => void;
}

/** What settlement needs. */
export interface SettlementDeps {
  /** Between two steps, milliseconds; also the first wait before a failed report is tried again. */
  readonly delayMs: number;
  readonly schedule: Schedule;
  readonly clock: BankClock;
  readonly report: (report: StatusReport) => Promise<void>;
  readonly noteStatus: (domesticPaymentId: string, status: string) => Promise<void>;
  readonly log: BankLog;
}

const steps: readonly string[] = ["AcceptedSettlementCompleted", "AcceptedCreditSettlementCompleted"];
const maxAttempts = 5;

/** Settlement with nothing under way. */
export function createSettlement(deps: SettlementDeps): Settlement {
  const pending = new Set<() => void>();
  let stopped = false;

  function later(task: () => Promise<void>, delayMs: number): void {
    if (stopped) return;
    const cancel = deps.schedule(() => {
      pending.delete(cancel);
      return task();
    }, delayMs);
    pending.add(cancel);
  }

  return {
    begin: (domesticPaymentId, reached = "") =>
      later(
        () => reportStep(deps, later, { domesticPaymentId, step: steps.indexOf(reached) + 1, attempt: 1 }),
        deps.delayMs,
      ),
    stop(): void {
      stopped = true;
      for (const cancel of pending) cancel();
      pending.clear();
    },
  };
}

interface Step {
  readonly domesticPaymentId: string;
  /** Index of the status to report. */
  readonly step: number;
  readonly attempt: number;
  /** When it was booked, milliseconds: a report that is repeated tells the same. Absent at the first attempt. */
  readonly at?: number;
}

type Later = (task: () => Promise<void>, delayMs: number) => void;

async function reportStep(deps: SettlementDeps, later: Later, booked: Step): Promise<void> {
  const { domesticPaymentId, step, attempt, at = deps.clock() } = booked;
  const status = steps[step];
  if (status === undefined) return; // settled
  try {
    await deps.report({ domesticPaymentId, status, at });
    await deps.noteStatus(domesticPaymentId, status);
  } catch (error) {
    const givesUp = isFinal(error) || attempt >= maxAttempts;
    deps.log("settlement.not_reported", { error: describe(error), attempt, givesUp });
    if (givesUp) return;
    const again = { ...booked, at, attempt: attempt + 1 };
    later(() => reportStep(deps, later, again), deps.delayMs * 2 ** attempt);
    return;
  }
  deps.log("settlement.reported", { domesticPaymentId, status });
  if (step + 1 < steps.length) {
    later(() => reportStep(deps, later, { domesticPaymentId, step: step + 1, attempt: 1 }), deps.delayMs);
  }
}

// A 4xx is the platform's decision. Of 429 it will change its mind, and of 400 it may: an order whose acceptance it
// has not heard yet cannot be settled in its books.
function isFinal(error: unknown): boolean {
  const httpStatus = error instanceof PlatformRejected ? error.status : 0;
  return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429 && httpStatus !== 400;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
