/** Paces a pass of background work that reads much and that no one waits for. */
import type { SteadyClock } from "../../../base/kernel/clock.ts";

const EVERY_MS = 5000;
/** A pass takes at most this part of the time, so that a long one is repeated less often. */
const DUTY = 1 / 20;

/** Returns the job: it returns 0, at once unless a pass is due. @param steady never goes back */
export function pacedJob(steady: SteadyClock, pass: () => Promise<void>): () => Promise<number> {
  let nextAt = -Infinity;
  return async () => {
    const began = steady();
    if (began < nextAt) return 0;
    nextAt = began + EVERY_MS;
    await pass();
    nextAt = Math.max(nextAt, steady() + (steady() - began) / DUTY);
    return 0;
  };
}
