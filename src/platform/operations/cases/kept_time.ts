/**
 * The time by which retention periods are judged. A clock that is ahead must not delete evidence early, so this time
 * follows the clock at a bounded pace: it is stored, and gains at most ten seconds in a second that a process has
 * measured with its monotonic clock. It is never ahead of the clock.
 */
import { z } from "zod";
import type { Clock, MonotonicClock, MonotonicTime, WallTime } from "../../../base/kernel/clock.ts";
import { defineRecord, instant } from "../../../base/store/record.ts";
import type { Store } from "../../../base/store/store.ts";
import { commitIfUnchanged } from "../../../base/store/transaction.ts";
import type { LogStore } from "../../evidence/evidence_log/log_store.ts";
import { keptTimeKey } from "../../config/store_keys.ts";

export const keptTimeRecord = defineRecord<{ readonly at: WallTime }>({
  name: "kept_time",
  keyParts: [],
  what: "The time by which retention periods are judged.",
  schema: z.looseObject({ at: instant }),
  version: 1,
  lifetime: "Kept. Replaced every minute.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

export interface KeptTime {
  /** Returns the time, milliseconds. 0 while no process has stored it, so that no record counts as old. */
  now(): Promise<number>;
  /** Lets the stored time follow the clock, at most once a minute. Returns how often it did. */
  follow(): Promise<number>;
}

export interface KeptTimeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly evidenceLog: Pick<LogStore, "head">;
}

const EVERY_MS = 60_000;
/** Makes good a platform that was stopped for ten days in one day, and an unnoticed step ahead of a year in 37 days. */
const MAX_PACE = 10;

export function openKeptTime({ store, clock, monotonic, evidenceLog }: KeptTimeDeps): KeptTime {
  const stored = (): ReturnType<typeof keptTimeRecord.get> => keptTimeRecord.get(store, keptTimeKey);
  let seen: { readonly version: string | null; readonly at: MonotonicTime } | undefined;
  return {
    async now() {
      return Math.min(clock(), (await stored())?.value.at ?? 0);
    },
    async follow() {
      const now = monotonic();
      if (seen !== undefined && now - seen.at < EVERY_MS) return 0;
      const entry = await stored();
      const version = entry?.version ?? null;
      const before = seen;
      seen = { version, at: now };
      // Of several processes, only one that saw the same time before knows how long it has stood.
      if (entry !== null && before?.version !== version) return 0;
      const passed = before === undefined ? 0 : now - before.at;
      const from = entry?.value.at ?? (await evidenceLog.head())?.value.at ?? clock();
      const at = Math.min(clock(), from + MAX_PACE * passed);
      const isStored = await commitIfUnchanged({ store, clock }, (tx) => {
        keptTimeRecord.replace(tx, keptTimeKey, entry, { at });
      });
      if (isStored) seen = { version: (await stored())?.version ?? null, at: now };
      return isStored ? 1 : 0;
    },
  };
}
