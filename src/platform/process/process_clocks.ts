/** Opens the clocks of a process. */
import {
  type AgesClock,
  type Clock,
  type MonotonicClock,
  type SteadyClock,
  steadyClock,
} from "../../base/kernel/clock.ts";
import { openAgeClock } from "../../base/store/age_clock.ts";
import type { Store } from "../../base/store/store.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../observed/log_events.ts";

interface ClockParts {
  readonly config: Pick<Config, "environment">;
  readonly store: Store;
  /** The time that is shared with participants. */
  readonly clock: Clock;
  /** Milliseconds since an arbitrary moment, never stepped. */
  readonly monotonic: MonotonicClock;
}

/** The clocks for ages and waits, and the job that stores their mark for the next start. */
export interface ProcessClocks {
  readonly steady: SteadyClock;
  readonly ages: AgesClock;
  readonly mark: () => Promise<number>;
}

/** Opens the clocks, and logs how far the shared clock is behind. */
export async function openClocks(
  { config, store, clock, monotonic }: ClockParts,
  log: Log,
): Promise<ProcessClocks> {
  const steady = steadyClock(clock, monotonic);
  const { ages, behindSeconds: seconds, mark } = await openAgeClock(
    store,
    clock,
    steady,
    (late) => logClock(config, log, "clock.behind_process", late),
  );
  if (seconds > 0) logClock(config, log, "clock.behind_store", seconds);
  return { steady, ages, mark };
}

/** Logs that clocks differ. A sandbox's are put back on purpose. */
export function logClock(
  { environment }: Pick<Config, "environment">,
  log: Log,
  event: "clock.behind_process" | "clock.behind_store" | "clock.stored_ahead",
  seconds: number,
): void {
  if (environment === "Sandbox") log.info(event, { seconds });
  else log.error(event, { seconds });
}
