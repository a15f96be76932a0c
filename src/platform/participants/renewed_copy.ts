/**
 * A copy of something that the directory publishes (Decision A9): used while it is fresh, renewed by one fetch at a
 * time, asked for again at intervals if it lacks something or renewals fail, kept while the directory is down, and not
 * trusted after 900 s: a revocation must take effect within a known time.
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Verdict } from "../../base/kernel/verdict.ts";

/** A renewed copy. `read` and `find` throw `platform.unavailable` without a fresh enough copy. */
export interface RenewedCopy<T> {
  read(): Promise<T>;
  /**
   * The result of `look`. If it is undefined, the copy is renewed once and searched again. `retry` limits how often, so
   * that invented names do not load the directory; `atOnce` skips that limit if the directory is known to have it.
   */
  find<V>(look: (value: T) => V | undefined, atOnce?: "at once"): Promise<V | undefined>;
  /** Renews the copy, unless that was tried a moment ago: for background work, so that no request has to wait. */
  refresh(): Promise<void>;
  /** The copy as it is, however old; undefined without one. */
  peek(): T | undefined;
  /** The copy's age if the last renewal, not long ago, failed: undefined while all is well. 0: there is no copy. */
  failingSeconds(): number | undefined;
}

/** When a copy is renewed; milliseconds. */
export interface CopyTimes {
  /** A read of an older copy renews it first. */
  readonly fresh: number;
  /** The directory is asked again after this at the earliest. */
  readonly retry: number;
}

/** What a copy is made of. */
export interface RenewedCopyDeps<T> {
  readonly clock: Clock;
  /** What is copied, for the log. */
  readonly name: string;
  readonly times: CopyTimes;
  /** Gets the published state; never throws for an unreachable or senseless directory. */
  readonly fetch: () => Promise<Verdict<T>>;
  /** Which version the directory is known to publish. A copy of another version is renewed at once. */
  readonly version?: () => unknown;
}

interface State<T> {
  copy?: { readonly value: T; readonly fetchedAt: number; readonly version: unknown };
  /** When the directory was last asked, and for which version; milliseconds, as all times here. */
  triedAt: number;
  triedVersion?: unknown;
  /** Why the last answer could not be used. */
  failure?: string;
  fetching?: Promise<void>;
}

const MAX_STALE_MS = 900_000;

/** Opens a copy; nothing is fetched before it is read. */
export function renewedCopy<T>(deps: RenewedCopyDeps<T>): RenewedCopy<T> {
  const state: State<T> = { triedAt: -Infinity };
  const read = async (): Promise<T> => {
    if (isOutdated(deps, state)) await state.fetching; // begun before the version was known
    if (isDue(deps, state)) await renew(deps, state);
    return usable(deps, state);
  };
  return {
    read,
    async find(look, atOnce) {
      const found = look(await read());
      if (found !== undefined) return found;
      if (atOnce === undefined && state.fetching === undefined && !mayAsk(deps, state)) return undefined;
      await renew(deps, state);
      return look(usable(deps, state));
    },
    async refresh() {
      if (mayAsk(deps, state)) await renew(deps, state);
    },
    peek: () => state.copy?.value,
    failingSeconds() {
      const now = deps.clock();
      if (state.failure === undefined || now - state.triedAt >= MAX_STALE_MS) return undefined;
      return Math.max(0, Math.floor((now - (state.copy?.fetchedAt ?? now)) / 1000));
    },
  };
}

function isDue<T>(deps: RenewedCopyDeps<T>, state: State<T>): boolean {
  if (state.copy === undefined) return true;
  const outdated = isOutdated(deps, state);
  if (outdated && state.triedVersion !== deps.version?.()) return true;
  const fresh = !outdated && ageOf(deps, state.copy) < deps.times.fresh;
  if (fresh) return false;
  if (state.fetching === undefined) return mayAsk(deps, state);
  // Who finds it being renewed waits for that, or would act on an old copy. While the directory is down it is in use anyway.
  return state.failure === undefined || !isTrusted(deps, state.copy);
}

/** The directory has published something else since. */
function isOutdated<T>({ version }: RenewedCopyDeps<T>, { copy }: State<T>): boolean {
  return copy !== undefined && version !== undefined && copy.version !== version();
}

function mayAsk<T>({ clock, times }: RenewedCopyDeps<T>, { triedAt }: State<T>): boolean {
  const passed = clock() - triedAt;
  return passed >= times.retry || passed < 0; // negative: the clock was set back, so the age is unknown
}

function ageOf<T>({ clock }: RenewedCopyDeps<T>, { fetchedAt }: NonNullable<State<T>["copy"]>): number {
  const age = clock() - fetchedAt;
  return age < 0 ? Infinity : age; // fetched "in the future": the clock was set back, and the age is unknown
}

function isTrusted<T>(deps: RenewedCopyDeps<T>, copy: NonNullable<State<T>["copy"]>): boolean {
  return ageOf(deps, copy) <= MAX_STALE_MS;
}

function renew<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  state.fetching ??= fetchInto(deps, state).finally(() => delete state.fetching);
  return state.fetching;
}

async function fetchInto<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  const fetchedAt = deps.clock(); // before the answer: what is revoked meanwhile is unknown from here on
  const version = deps.version?.();
  state.triedAt = fetchedAt;
  state.triedVersion = version;
  const fetched = await deps.fetch();
  if (!fetched.ok) {
    state.failure = fetched.why;
    return;
  }
  state.copy = { value: fetched.value, fetchedAt, version };
  delete state.failure;
}

function usable<T>(deps: RenewedCopyDeps<T>, { copy, failure }: State<T>): T {
  if (copy !== undefined && isTrusted(deps, copy)) return copy.value;
  throw new ApiError("platform.unavailable", {
    detail: `no fresh copy of ${deps.name}: ${failure ?? "not asked again yet"}`,
    retryAfterSeconds: deps.times.retry / 1000,
  });
}
