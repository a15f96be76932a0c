/**
 * A copy of a document that the directory publishes (Decision A9). It is used while fresh and renewed by one fetch at
 * a time. It is fetched again at intervals if a searched entry is missing or renewals fail, and used while the
 * directory is down. It is not trusted after 900 s, because a revocation must take effect within a known time. The
 * store has the copy with its age, so that a process that starts while the directory is down can use it for the rest
 * of the 900 s.
 */
import { releasePlaceWhile } from "../../../base/http/context.ts";
import type { AgesClock, AgesTime } from "../../../base/kernel/clock.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Failure, Reason, Result } from "../../../base/kernel/result.ts";

/** A renewed copy. `read` and `find` throw `platform.unavailable` without a fresh enough copy. */
export interface RenewedCopy<T> {
  read(): Promise<T>;
  /**
   * Returns the result of `look`. If it is undefined, the copy is renewed once and searched again. `retry` limits how
   * often, so that invented names do not load the directory. If the directory is known to have the entry, `at once`
   * skips that limit and `soon` lowers it to a second.
   */
  find<V>(look: (value: T) => V | undefined, urgency?: Urgency): Promise<V | undefined>;
  /** Renews the copy, unless that was tried recently. For background work, so that no request has to wait. */
  refresh(): Promise<void>;
  /** Returns the copy of any age, or undefined if there is none. */
  peek(): T | undefined;
  /**
   * Returns the age of the copy in seconds if the last renewal failed recently, else undefined. 0 means that there is
   * no copy.
   */
  failingSeconds(): number | undefined;
  /** Returns the age of the copy in seconds, or undefined if there is none. */
  ageSeconds(): number | undefined;
}

/** How soon a missing entry is fetched that the directory is known to have. */
export type Urgency = "at once" | "soon";

/** When a copy is renewed, milliseconds. */
export interface CopyTimes {
  /** A read of an older copy renews it first. */
  readonly fresh: number;
  /** Shortest interval between fetches. Without a copy: 1, 2, 4 … s, at most this. */
  readonly retry: number;
}

/** A fetched copy. */
export interface Copied<T> {
  readonly value: T;
  /** Milliseconds, by the clock of ages. */
  readonly fetchedAt: AgesTime;
  /** The version that the directory was known to publish at the time. */
  readonly version: number | undefined;
}

/** Storage of the copy that outlives the process. */
export interface KeptCopy<T> {
  /** Returns the stored copy, or undefined if there is none or it cannot be parsed. */
  load(): Promise<Copied<T> | undefined>;
  /** Stores a copy of any age. Never throws. */
  keep(copy: Copied<T>): Promise<void>;
}

/** The result of a fetch. `remaining` replaces the former value but does not renew its age. */
export type FetchedCopy<T> = Result<T, Reason> | (Failure<Reason> & { readonly remaining: T });

export interface RenewedCopyDeps<T> {
  /** The clock of ages. It never goes back, and continues over a restart. */
  readonly ages: AgesClock;
  /** Name of the document, for the log. */
  readonly name: string;
  readonly times: CopyTimes;
  /**
   * Fetches the document. Never throws if the directory is unreachable or its response is invalid.
   *
   * @param former the copy that would be used otherwise; undefined if no trusted copy exists
   */
  readonly fetch: (former: T | undefined) => Promise<FetchedCopy<T>>;
  readonly kept: KeptCopy<T>;
  /** Returns the version that the directory is known to publish. A copy of another version is renewed at once. */
  readonly version?: () => number | undefined;
}

interface State<T> {
  copy?: Copied<T>;
  /** When the directory was last called, and for which version. All times here are milliseconds. */
  triedAt: number;
  triedVersion?: number | undefined;
  /** Number of failed fetches, for the waits without a copy, and the reason of the last failure. */
  failures: number;
  failure?: string;
  fetching?: Promise<void>;
  /** Reads the stored copy. Runs once. */
  loading?: Promise<void>;
  isLoaded: boolean;
}

const MAX_STALE_MS = 900_000;
const FIRST_RETRY_MS = 1000;
const SOON_MS = 1000;

/** Opens a copy. The first fetch happens at the first read. */
export function renewedCopy<T>(deps: RenewedCopyDeps<T>): RenewedCopy<T> {
  const state: State<T> = { triedAt: -Infinity, failures: 0, isLoaded: false };
  const read = async (): Promise<T> => {
    if (!state.isLoaded) await load(deps, state);
    if (isOutdated(deps, state)) await releasePlaceWhile(async () => await state.fetching); // begun before the version was known
    if (isDue(deps, state)) await renew(deps, state);
    return requireUsable(deps, state);
  };
  return {
    read,
    async find(look, urgency) {
      let found = look(await read());
      if (found === undefined && state.fetching !== undefined) { // begun before the directory had the entry, perhaps
        await renew(deps, state);
        found = look(requireUsable(deps, state));
      }
      const isSoon = urgency === "soon" && deps.ages() - state.triedAt >= SOON_MS;
      if (found !== undefined || !(urgency === "at once" || isSoon || mayAsk(deps, state))) return found;
      await renew(deps, state);
      return look(requireUsable(deps, state));
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
    ageSeconds: () => state.copy === undefined ? undefined : Math.floor(ageOf(deps, state.copy) / 1000),
  };
}

function load<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  state.loading ??= loadInto(deps, state).finally(() => delete state.loading);
  return state.loading;
}

/**
 * A stored copy from the future has an unknown age, because it was stored by a process whose clock differs, so it is
 * not used.
 */
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
  // Waits for a renewal under way instead of using an old copy. While the directory is down, the old copy is used
  // anyway.
  return state.failure === undefined || trusted(deps, state) === undefined;
}

/** Whether the directory has published another version since. */
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

/** Returns the copy unless it is too old. */
function trusted<T>(deps: RenewedCopyDeps<T>, { copy }: State<T>): Copied<T> | undefined {
  return copy !== undefined && ageOf(deps, copy) <= MAX_STALE_MS ? copy : undefined;
}

/** All requests that need the copy wait for one fetch. None of them keeps its place in work meanwhile. */
function renew<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  return releasePlaceWhile(() =>
    state.fetching ??= fetchInto(deps, state).finally(() => delete state.fetching)
  );
}

async function fetchInto<T>(deps: RenewedCopyDeps<T>, state: State<T>): Promise<void> {
  const fetchedAt = deps.ages(); // before the response, because later revocations are not in it
  const version = deps.version?.();
  state.triedAt = fetchedAt;
  state.triedVersion = version;
  const former = trusted(deps, state);
  const fetched = await deps.fetch(former?.value);
  if (!fetched.ok) {
    state.failures += 1;
    state.failure = fetched.fault.why;
    if (former === undefined || !("remaining" in fetched)) return;
    state.copy = { ...former, value: fetched.remaining };
    return await deps.kept.keep(state.copy);
  }
  state.copy = { value: fetched.value, fetchedAt, version };
  delete state.failure;
  await deps.kept.keep(state.copy);
}

function requireUsable<T>(deps: RenewedCopyDeps<T>, state: State<T>): T {
  const copy = trusted(deps, state);
  if (copy !== undefined) return copy.value;
  throw new ApiError("platform.unavailable", {
    detail: `no fresh copy of ${deps.name}: ${state.failure}`,
    retryAfterSeconds: deps.times.retry / 1000,
  });
}
