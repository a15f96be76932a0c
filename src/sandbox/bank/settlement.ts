/**
 * Simulates settlement: after a delay it reports the debit as booked, then the credit (contract PT5, PT6; Decision D3).
 * The caller supplies the timers, so that tests can hold or cancel them.
 */
import type { BankClock, BankLog } from "./bank_profile.ts";
import { PlatformRejected, type StatusReport } from "../../client/bank/back_channel.ts";

/** Runs the task after the delay (milliseconds) and returns a function that cancels it. */
export type Schedule = (task: () => Promise<void>, delayMs: number) => () => void;

/** Settlement of one bank's orders. */
export interface Settlement {
  /** Starts the delay for an accepted order, or continues from the status it had reached. */
  readonly begin: (domesticPaymentId: string, reached?: string) => void;
  /** Cancels all pending reports. */
  readonly stop: () => void;
}

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
  /** When it was booked, milliseconds. A repeated report has the same time. Absent at the first attempt. */
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

// A 4xx is the platform's final decision, except 429 and 400: an order whose acceptance the platform has not yet
// recorded is rejected with 400 and may be accepted later.
function isFinal(error: unknown): boolean {
  const httpStatus = error instanceof PlatformRejected ? error.status : 0;
  return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429 && httpStatus !== 400;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
