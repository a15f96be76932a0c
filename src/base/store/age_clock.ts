/**
 * A clock for the ages of stored values: milliseconds that never go back and continue over a restart. Its value is
 * stored every few seconds together with the computer's time, so that the next start can compute how much time has
 * passed. If the computer's time has gone back meanwhile, that is unknown, and every stored value counts as too old.
 */
import {
  type AgesClock,
  type Clock,
  MAX_PROCESS_SKEW_MS,
  MAX_SKEW_MS,
  type SteadyClock,
} from "../kernel/clock.ts";
import type { Entry, Key, Store } from "./store.ts";
import { type AgeMark, ageMarkRecord } from "./base_records.ts";
import { check, transact } from "./transaction.ts";

export interface AgeClock {
  readonly ages: AgesClock;
  /** Seconds by which the computer's clock was behind the stored mark at the start, or 0. */
  readonly behindSeconds: number;
  /**
   * Stores the current value, at most every 10 s. Returns the number of marks stored. Called every second, it also
   * notices that the clock of another process is ahead.
   */
  mark(): Promise<number>;
}

const ageMarkKey: Key = ["age_mark"];

const EVERY_MS = 10_000;
/** Longer than the maximum age of any stored value. */
const UNKNOWN_MS = 3_600_000;

/**
 * Reads the stored mark and opens the clock.
 *
 * @param steady this process's steady clock over `clock`
 * @param behind called with the seconds by which this computer's clock is behind another process's, once until it is
 * no longer behind
 */
export async function openAgeClock(
  store: Store,
  clock: Clock,
  steady: SteadyClock,
  behind: (seconds: number) => void,
): Promise<AgeClock> {
  const entry = await ageMarkRecord.get(store, ageMarkKey);
  const mark = entry?.value;
  const [at, startedAt] = [clock(), steady()];
  const passed = at - (mark?.at ?? at);
  const since = passed < -MAX_SKEW_MS ? UNKNOWN_MS : Math.max(0, passed);
  const shift = mark === undefined ? 0 : mark.age + since - startedAt;
  const ages: AgesClock = () => steady() + shift;
  const compare = openComparison(clock, entry, behind);
  let own: AgeMark | undefined;
  let markedAt = -Infinity;
  return {
    ages,
    behindSeconds: passed < -MAX_SKEW_MS ? Math.ceil(-passed / 1000) : 0,
    async mark() {
      compare(await ageMarkRecord.get(store, ageMarkKey), own);
      const age = ages();
      if (age - markedAt < EVERY_MS) return 0;
      markedAt = age;
      const mark = { at: clock(), age };
      if (!await storeMark(store, clock, mark)) return 0;
      own = mark;
      return 1;
    },
  };
}

/**
 * Compares this clock with a mark that another process has just stored. The mark found at the start and this process's
 * own ones tell nothing of other clocks.
 */
function openComparison(
  clock: Clock,
  atStart: Entry<AgeMark> | null,
  behind: (seconds: number) => void,
): (mark: Entry<AgeMark> | null, own: AgeMark | undefined) => void {
  let isBehind = false;
  let compared = atStart?.version;
  return (mark, own) => {
    if (mark === null || mark.version === compared) return;
    compared = mark.version;
    if (mark.value.at === own?.at && mark.value.age === own.age) return;
    const byMs = mark.value.at - clock();
    if (byMs > MAX_PROCESS_SKEW_MS && !isBehind) behind(Math.ceil(byMs / 1000));
    isBehind = byMs > MAX_PROCESS_SKEW_MS;
  };
}

/** Never replaces a later mark: of several processes, the one that is furthest ahead sets it. */
async function storeMark(store: Store, clock: Clock, mark: AgeMark): Promise<boolean> {
  const options = { what: "age mark", lost: () => false };
  return await transact({ store, clock }, options, async (tx) => {
    const former = await ageMarkRecord.get(tx, ageMarkKey);
    if (former !== null && former.value.age >= mark.age) return false;
    check(tx, ageMarkKey, former?.version ?? null);
    ageMarkRecord.set(tx, ageMarkKey, mark);
    return true;
  });
}
