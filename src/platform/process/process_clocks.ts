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
  const isSandbox = config.environment === "Sandbox";
  const behind = (event: "clock.behind_process" | "clock.behind_store", seconds: number): void =>
    isSandbox ? log.info(event, { seconds }) : log.error(event, { seconds }); // a sandbox's is put back on purpose
  const { ages, behindSeconds: seconds, mark } = await openAgeClock(
    store,
    clock,
    steady,
    (late) => behind("clock.behind_process", late),
  );
  if (seconds > 0) behind("clock.behind_store", seconds);
  return { steady, ages, mark };
}
