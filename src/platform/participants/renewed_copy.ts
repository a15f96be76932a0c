/**
 * A copy of something that the directory publishes (Decision A9): used while it is fresh, renewed by one fetch at a
 * time, asked for again at intervals if it lacks something or renewals fail, kept while the directory is down, and not
 * trusted after 900 s: a revocation must take effect within a known time. The store keeps it with its age, so that a
 * process that starts while the directory is down goes on with it for what is left of the 900 s.
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
  /** The directory is asked again after this at the earliest. Without a copy: after 1, 2, 4 … s, at most this. */
  readonly retry: number;
}

/** A copy as it was fetched. */
export interface Copied<T> {
  readonly value: T;
  /** Milliseconds, by the clock of ages. */
  readonly fetchedAt: number;
  /** Which version the directory was known to publish at the time. */
  readonly version: number | undefined;
}

/** Where the copy outlives the process. */
export interface KeptCopy<T> {
  /** The copy as last kept; undefined if there is none, or none that can be read. */
  load(): Promise<Copied<T> | undefined>;
  /** Keeps a copy, at whatever age it has. Never throws. */
  keep(copy: Copied<T>): Promise<void>;
}

/** What a fetch leads to; `remaining` replaces the former value without making it any younger. */
export type FetchedCopy<T> = Verdict<T> | {
  readonly ok: false;
  readonly why: string;
  readonly remaining: T;
};

/** What a copy is made of. */
export interface RenewedCopyDeps<T> {
  /** The clock of ages: it is never put back, and goes on over a restart. */
  readonly ages: Clock;
  /** What is copied, for the log. */
  readonly name: string;
  readonly times: CopyTimes;
  /**
   * Gets the published state; never throws for an unreachable or senseless directory.
   *
   * @param former the copy that would be used otherwise; undefined without one that may be trusted
   */
  readonly fetch: (former: T | undefined) => Promise<FetchedCopy<T>>;
  readonly kept: KeptCopy<T>;
  /** Which version the directory is known to publish. A copy of another version is renewed at once. */
  readonly version?: () => number | undefined;
}

interface State<T> {
  copy?: Copied<T>;
  /** When the directory was last asked, and for which version; milliseconds, as all times here. */
  triedAt: number;
  triedVersion?: number | undefined;
  /** Fetches that failed, one after the other, and why the last one could not be used. */
  failures: number;
  failure?: string;
  fetching?: Promise<void>;
  /** Done once: the copy that the store keeps has been read. */
  loading?: Promise<void>;
  isLoaded: boolean;
}

const MAX_STALE_MS = 900_000;
const FIRST_RETRY_MS = 1000;

/** Opens a copy; nothing is fetched before it is read. */
export function renewedCopy<T>(deps: RenewedCopyDeps<T>): RenewedCopy<T> {
  const state: State<T> = { triedAt: -Infinity, failures: 0, isLoaded: false };
  const read = async (): Promise<T> => {
    if (!state.isLoaded) await load(deps, state);
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
      if (!state.isLoaded) await load(deps, state);
      if (mayAsk(deps, state)) await renew(deps, state);
    },
    peek: () => state.copy?.value,
    failingSeconds() {
      const now = deps.ages();
      if (state.failure === undefined || now - state.triedAt >= MAX_STALE_MS) return undefined;
      return Math.floor((now - (state.copy?.fetchedAt ?? now)) / 1000);
    },
  };
}

function load<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  state.loading ??= loadInto(deps, state).finally(() => delete state.loading);
  return state.loading;
}

/** A copy from the future is of unknown age: another process has kept it whose clock differs. */
async function loadInto<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  const kept = await deps.kept.load();
  if (kept !== undefined && kept.fetchedAt <= deps.ages()) state.copy = kept;
  state.isLoaded = true;
}

function isDue<T>(deps: RenewedCopyDeps<T>, state: State<T>): boolean {
  if (state.copy === undefined) return state.fetching !== undefined || mayAsk(deps, state);
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

function mayAsk<T>({ ages, times }: RenewedCopyDeps<T>, { copy, triedAt, failures }: State<T>): boolean {
  const wait = copy === undefined ? FIRST_RETRY_MS * 2 ** (failures - 1) : times.retry;
  return ages() - triedAt >= Math.min(wait, times.retry);
}

function ageOf<T>({ ages }: RenewedCopyDeps<T>, { fetchedAt }: Copied<T>): number {
  return ages() - fetchedAt;
}

function isTrusted<T>(deps: RenewedCopyDeps<T>, copy: Copied<T>): boolean {
  return ageOf(deps, copy) <= MAX_STALE_MS;
}

function renew<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  state.fetching ??= fetchInto(deps, state).finally(() => delete state.fetching);
  return state.fetching;
}

async function fetchInto<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  const fetchedAt = deps.ages(); // before the answer: what is revoked meanwhile is unknown from here on
  const version = deps.version?.();
  state.triedAt = fetchedAt;
  state.triedVersion = version;
  const former = state.copy !== undefined && isTrusted(deps, state.copy) ? state.copy : undefined;
  const fetched = await deps.fetch(former?.value);
  if (!fetched.ok) {
    state.failures += 1;
    state.failure = fetched.why;
    if (former === undefined || !("remaining" in fetched)) return;
    state.copy = { ...former, value: fetched.remaining };
    return await deps.kept.keep(state.copy);
  }
  state.copy = { value: fetched.value, fetchedAt, version };
  state.failures = 0;
  delete state.failure;
  await deps.kept.keep(state.copy);
}

function usable<T>(deps: RenewedCopyDeps<T>, { copy, failure }: State<T>): T {
  if (copy !== undefined && isTrusted(deps, copy)) return copy.value;
  throw new ApiError("platform.unavailable", {
    detail: `no fresh copy of ${deps.name}: ${failure ?? "not asked again yet"}`,
    retryAfterSeconds: deps.times.retry / 1000,
  });
}
