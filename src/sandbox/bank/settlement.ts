/**
 * Plays settlement: some time after an order was accepted it reports the debit as booked, then the credit
 * (edges P5 and P6 of table 2.2, Decision D3). Timers come from outside, so that they can be held or cancelled.
 */
import type { BankLog } from "./bank_profile.ts";
import { PlatformRefused, type StatusReport } from "./platform_client.ts";

/** Runs the task after the delay, milliseconds; the result cancels it. */
export type Schedule = (task: () => Promise<void>, delayMs: number) => () => void;

/** Settlement of one bank's orders. */
export interface Settlement {
  /** Starts the clock for an order that was just accepted. */
  readonly begin: (domesticPaymentId: string) => void;
  /** Cancels everything that is still to be reported. */
  readonly stop: () => void;
}

/** What settlement needs. */
export interface SettlementDeps {
  /** Between two steps, milliseconds; also the first wait before a failed report is tried again. */
  readonly delayMs: number;
  readonly schedule: Schedule;
  readonly report: (report: StatusReport) => Promise<void>;
  readonly noteStatus: (domesticPaymentId: string, status: string) => void;
  readonly log: BankLog;
}

const steps = ["AcceptedSettlementCompleted", "AcceptedCreditSettlementCompleted"] as const;
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

  async function reportStep(domesticPaymentId: string, step: number, attempt: number): Promise<void> {
    const status = steps[step];
    if (status === undefined) return; // settled
    try {
      await deps.report({ domesticPaymentId, status });
    } catch (error) {
      return retryOrGiveUp(error, () => reportStep(domesticPaymentId, step, attempt + 1), attempt);
    }
    deps.noteStatus(domesticPaymentId, status);
    deps.log("settlement.reported", { domesticPaymentId, status });
    if (step + 1 < steps.length) later(() => reportStep(domesticPaymentId, step + 1, 1), deps.delayMs);
  }

  function retryOrGiveUp(error: unknown, again: () => Promise<void>, attempt: number): void {
    const givesUp = isFinal(error) || attempt >= maxAttempts;
    deps.log("settlement.not_reported", { error: describe(error), attempt, givesUp });
    if (!givesUp) later(again, deps.delayMs * 2 ** attempt);
  }

  return {
    begin: (domesticPaymentId) => later(() => reportStep(domesticPaymentId, 0, 1), deps.delayMs),
    stop(): void {
      stopped = true;
      for (const cancel of pending) cancel();
      pending.clear();
    },
  };
}

// A 4xx is the platform's decision (unknown payment, illegal move); only of 429 will it change its mind.
function isFinal(error: unknown): boolean {
  const httpStatus = error instanceof PlatformRefused ? error.status : 0;
  return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
