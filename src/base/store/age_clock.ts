/**
 * A clock for the ages of stored values: milliseconds that never go back and continue over a restart. Its value is
 * stored every few seconds together with the computer's time, so that the next start can compute how much time has
 * passed. If the computer's time has gone back meanwhile, that is unknown, and every stored value counts as too old.
 */
import { type Clock, MAX_SKEW_MS } from "../kernel/clock.ts";
import type { Key, Store } from "./store.ts";
import { ageMarkRecord } from "./base_records.ts";
import { check, transact } from "./transaction.ts";

export interface AgeClock {
  readonly ages: Clock;
  /** Seconds by which the computer's clock was behind the stored mark at the start, or 0. */
  readonly behindSeconds: number;
  /** Stores the current value, at most every 10 s. Returns the number of marks stored. */
  mark(): Promise<number>;
}

const ageMarkKey: Key = ["age_mark"];

const EVERY_MS = 10_000;
/** Longer than the maximum age of any stored value. */
const UNKNOWN_MS = 3_600_000;

/** Reads the stored mark and opens the clock. `steady` is this process's steady clock over `clock`. */
export async function openAgeClock(store: Store, clock: Clock, steady: Clock): Promise<AgeClock> {
  const mark = (await ageMarkRecord.get(store, ageMarkKey))?.value;
  const [at, startedAt] = [clock(), steady()];
  const passed = mark === undefined ? 0 : at - mark.at;
  const since = passed < -MAX_SKEW_MS ? UNKNOWN_MS : Math.max(0, passed);
  const shift = mark === undefined ? 0 : mark.age + since - startedAt;
  const ages: Clock = () => steady() + shift;
  let markedAt = -Infinity;
  return {
    ages,
    behindSeconds: passed < -MAX_SKEW_MS ? Math.ceil(-passed / 1000) : 0,
    async mark() {
      const age = ages();
      if (age - markedAt < EVERY_MS) return 0;
      markedAt = age;
      return await storeMark(store, clock, age) ? 1 : 0;
    },
  };
}

/** Never replaces a later mark: of several processes, the one that is furthest ahead sets it. */
async function storeMark(store: Store, clock: Clock, age: number): Promise<boolean> {
  const options = { what: "age mark", attempts: 1, lost: () => false };
  return await transact({ store, clock }, options, async (tx) => {
    const former = await ageMarkRecord.get(tx, ageMarkKey);
    if (former !== null && former.value.age >= age) return false;
    check(tx, ageMarkKey, former?.version ?? null);
    ageMarkRecord.set(tx, ageMarkKey, { at: clock(), age });
    return true;
  });
}
