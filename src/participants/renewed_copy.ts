/**
 * A copy of something that the directory publishes, by the rules of Decision A9: used for 300 s, renewed by one
 * fetch at a time, asked for again at most every 30 s for what it lacks or while renewals fail, kept while the
 * directory is down, and trusted no more at 900 s: a revocation must not stay unheard.
 */
import type { Clock } from "../kernel/clock.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Verdict } from "../kernel/verdict.ts";

/** A renewed copy. Its methods throw `platform.unavailable` without a fresh enough copy. */
export interface RenewedCopy<T> {
  read(): Promise<T>;
  /** What `look` finds; the directory is asked again for what is not there, though not for every stranger's guess. */
  find<V>(look: (value: T) => V | undefined): Promise<V | undefined>;
  /** The copy's age where the last renewal, not long ago, failed: undefined while all is well. 0: there is no copy. */
  failingSeconds(): number | undefined;
}

/** What a copy is made of. */
export interface RenewedCopyDeps<T> {
  readonly clock: Clock;
  /** What is copied, for the log. */
  readonly name: string;
  /** Gets the published state; never throws for an unreachable or senseless directory. */
  readonly fetch: () => Promise<Verdict<T>>;
}

interface State<T> {
  copy?: { readonly value: T; readonly fetchedAt: number };
  /** When the directory was last asked; milliseconds, as all times here. */
  triedAt: number;
  /** Why the last answer could not be used. */
  failure?: string;
  fetching?: Promise<void>;
}

const FRESH_MS = 300_000;
const RETRY_MS = 30_000;
const MAX_STALE_MS = 900_000;

/** Opens a copy; nothing is fetched before it is read. */
export function renewedCopy<T>(deps: RenewedCopyDeps<T>): RenewedCopy<T> {
  const state: State<T> = { triedAt: -Infinity };
  const read = async (): Promise<T> => {
    if (isDue(state, deps.clock())) await renew(deps, state);
    return usable(deps, state);
  };
  return {
    read,
    async find(look) {
      const found = look(await read());
      if (found !== undefined || !mayAsk(state, deps.clock())) return found;
      await renew(deps, state);
      return look(usable(deps, state));
    },
    failingSeconds() {
      const now = deps.clock();
      if (state.failure === undefined || now - state.triedAt >= MAX_STALE_MS) return undefined;
      return Math.floor((now - (state.copy?.fetchedAt ?? now)) / 1000);
    },
  };
}

function isDue<T>(state: State<T>, now: number): boolean {
  if (state.copy === undefined) return true;
  return now - state.copy.fetchedAt >= FRESH_MS && mayAsk(state, now);
}

/** Whether to ask the directory: who finds it being asked waits for that answer, or would act on an old copy. */
function mayAsk<T>(state: State<T>, now: number): boolean {
  return state.fetching !== undefined || now - state.triedAt >= RETRY_MS;
}

function renew<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  state.fetching ??= fetchInto(deps, state).finally(() => delete state.fetching);
  return state.fetching;
}

async function fetchInto<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  const fetchedAt = deps.clock(); // before the answer: what is revoked meanwhile is unknown from here on
  state.triedAt = fetchedAt;
  const fetched = await deps.fetch();
  if (!fetched.ok) {
    state.failure = fetched.why;
    return;
  }
  state.copy = { value: fetched.value, fetchedAt };
  delete state.failure;
}

function usable<T>(deps: RenewedCopyDeps<T>, { copy, failure }: State<T>): T {
  if (copy !== undefined && deps.clock() - copy.fetchedAt <= MAX_STALE_MS) return copy.value;
  throw new Refusal("platform.unavailable", {
    detail: `no fresh copy of ${deps.name}: ${failure ?? "not asked again yet"}`,
    retryAfterSeconds: RETRY_MS / 1000,
  });
}
