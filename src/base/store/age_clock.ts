/**
 * The clock of ages: milliseconds that are never put back and go on over a restart, for what is kept with its age. Its
 * reading is stored every few seconds together with the computer's time, so that a start knows how much time has passed
 * since. If the computer's time has gone back meanwhile, that is unknown: then everything kept counts as too old.
 */
import { type Clock, MAX_SKEW_MS } from "../kernel/clock.ts";
import type { Key, Store } from "./store.ts";
import { begin, check, commit, set } from "./transaction.ts";

/** The clock of ages. */
export interface AgeClock {
  readonly ages: Clock;
  /** How far the computer's clock was behind the store's mark at the start, seconds; 0 if it was not. */
  readonly behindSeconds: number;
  /** Stores the reading, at most every 10 s. Returns how often it did. */
  mark(): Promise<number>;
}

interface Mark {
  /** Milliseconds since the Unix epoch, by the computer's clock. */
  readonly at: number;
  readonly age: number;
}

const ageMarkKey: Key = ["age_mark"];

const EVERY_MS = 10_000;
/** Longer than anything kept is trusted. */
const UNKNOWN_MS = 3_600_000;

/** Opens it. `steady` is this process's own steady clock over `clock`. */
export async function openAgeClock(store: Store, clock: Clock, steady: Clock): Promise<AgeClock> {
  const mark = (await store.get<Mark>(ageMarkKey))?.value;
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

/** Never an earlier one: of several processes, the furthest ahead sets the mark. */
async function storeMark(store: Store, clock: Clock, age: number): Promise<boolean> {
  const former = await store.get<Mark>(ageMarkKey);
  if (former !== null && former.value.age >= age) return false;
  const tx = begin();
  check(tx, ageMarkKey, former?.version ?? null);
  set(tx, ageMarkKey, { at: clock(), age } satisfies Mark);
  return await commit(store, clock, tx);
}
