/**
 * Puts commits that wait for the database into one transaction, because a transaction costs more than its entries: it
 * ends with the disk's confirmation. Each commit still succeeds or fails by its own checks.
 */
import { keyText } from "./request_reads.ts";
import { type Commit, type Entry, type Join, StoreFailure, type Write } from "./store.ts";

/** Largest group. Deno KV takes 100 checks, 1,000 writes and 800 KiB of values in a transaction. */
const MAX_COMMITS = 16;
const MAX_CHECKS = 100;
const MAX_WRITES = 500;

type CommitFunction = (staged: Commit) => Promise<boolean>;

/** Commits that go into one transaction. None reads or writes an entry that another one writes. */
interface Group {
  readonly commits: Commit[];
  readonly checked: Set<string>;
  readonly written: Set<string>;
  /** By index of the commit, as far as they have ended. */
  readonly results: PromiseSettledResult<boolean>[];
  /** Rejected if the database failed; results of commits that ended before are right. */
  ended: Promise<void>;
}

/**
 * Returns a function that commits in groups.
 *
 * @param commit commits one transaction. If it throws, the transaction has not happened
 * @param limit when a transaction may begin
 */
export function openGroupCommits(commit: CommitFunction, limit: ConcurrencyLimit): CommitFunction {
  let waiting: Group | undefined;
  const open = (): Group => {
    const group: Group = {
      commits: [],
      checked: new Set(),
      written: new Set(),
      results: [],
      ended: Promise.resolve(),
    };
    const close = (): void => {
      if (waiting === group) waiting = undefined;
    };
    group.ended = limit.run(() => {
      close();
      return commitGroup(commit, group);
    }).finally(close); // it may have had no turn
    return group;
  };
  return async (staged) => {
    const keys = {
      checked: staged.checks.map(({ key }) => keyText(key)),
      written: staged.writes.map(({ key }) => keyText(key)),
    };
    const group = waiting !== undefined && fits(waiting, keys) ? waiting : waiting = open();
    const index = group.commits.push(staged) - 1;
    add(group, keys);
    const failure = await group.ended.then(() => undefined, (error: unknown) => ({ error }));
    const result = group.results[index];
    if (result?.status === "fulfilled") return result.value;
    throw result?.reason ?? failure?.error;
  };
}

interface Keys {
  readonly checked: readonly string[];
  readonly written: readonly string[];
}

/** All checks of a transaction are done before its writes, so a check must not be about an entry that another commit writes. */
function fits(group: Group, { checked, written }: Keys): boolean {
  return group.commits.length < MAX_COMMITS &&
    total(group, "checks") + checked.length <= MAX_CHECKS &&
    total(group, "writes") + written.length <= MAX_WRITES &&
    !checked.some((key) => group.written.has(key)) &&
    !written.some((key) => group.written.has(key) || group.checked.has(key));
}

function add(group: Group, { checked, written }: Keys): void {
  for (const key of checked) group.checked.add(key);
  for (const key of written) group.written.add(key);
}

function total({ commits }: Group, part: "checks" | "writes"): number {
  return commits.reduce((sum, commit) => sum + commit[part].length, 0);
}

/**
 * Commits all together, or else each alone, so that each has its own result.
 *
 * @throws {StoreFailure} if the database fails
 */
async function commitGroup(commit: CommitFunction, { commits, results }: Group): Promise<void> {
  if (commits.length > 1 && await commitTogether(commit, commits)) {
    results.push(...commits.map(() => ({ status: "fulfilled", value: true }) as const));
    return;
  }
  for (const staged of commits) {
    const [result] = await Promise.allSettled([commit(staged)]);
    results.push(result);
    if (result.status === "rejected" && result.reason instanceof StoreFailure) throw result.reason;
  }
}

/** @returns whether all have happened; else none has: a check failed, or the transaction is too large */
async function commitTogether(commit: CommitFunction, commits: readonly Commit[]): Promise<boolean> {
  try {
    return await commit({
      checks: commits.flatMap(({ checks }) => checks),
      writes: joinWrites(commits.flatMap(({ writes }) => writes)),
    });
  } catch (error) {
    if (error instanceof StoreFailure) throw error;
    return false;
  }
}

function joinWrites(writes: readonly Write[]): readonly Write[] {
  const groups = Map.groupBy(writes, joinOf);
  return [...groups].flatMap(([join, some]) =>
    join === undefined || some.length === 1 ? some : join(some.map(asEntry))
  );
}

function asEntry(write: Write): Entry<unknown> {
  return { key: write.key, value: write.kind === "set" ? write.value : null, version: "" };
}

function joinOf(write: Write): Join | undefined {
  return write.kind === "set" ? write.join : undefined;
}

// Bounds the commits that wait for the database. Deno KV runs one at a time, and SQLite waits up to 5 s for the lock
// of another process (a backup, a shell) before it fails. Without a bound, the last of many commits would wait for
// minutes.

export interface ConcurrencyLimit {
  /**
   * Runs `work` when its turn comes.
   *
   * @throws {StoreFailure} without running it, if the database fails or is too slow
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

interface Limits {
  /** How many pieces of work run at once. */
  readonly atOnce: number;
  /** Longest wait for a turn, milliseconds. */
  readonly maxWaitMs: number;
}

/** Longest wait for a turn while the database fails: enough for one attempt that succeeds. */
const MAX_FAILING_WAIT_MS = 500;

interface State extends Limits {
  readonly waiting: Set<PromiseWithResolvers<void>>;
  running: number;
  /** Set if the database failed in the last work that ended. */
  failure: StoreFailure | undefined;
}

/**
 * Opens the limit. After a failure of the database, one piece of work at a time tries the database, and all waiting ones share its
 * failure.
 */
export function openConcurrencyLimit(limits: Limits): ConcurrencyLimit {
  const state: State = { ...limits, waiting: new Set(), running: 0, failure: undefined };
  return {
    async run(work) {
      await turn(state);
      try {
        const result = await work();
        state.failure = undefined;
        return result;
      } catch (error) {
        if (error instanceof StoreFailure && error.scope === "database") fail(state, error);
        throw error;
      } finally {
        release(state);
      }
    },
  };
}

function isFree({ running, failure, atOnce }: State): boolean {
  return running < (failure === undefined ? atOnce : 1);
}

async function turn(state: State): Promise<void> {
  if (isFree(state)) return void state.running++;
  const { waiting, failure, maxWaitMs } = state;
  const own = Promise.withResolvers<void>();
  waiting.add(own);
  const why = failure?.message ?? `no turn to write within ${maxWaitMs / 1000} s`;
  const waitMs = failure === undefined ? maxWaitMs : Math.min(maxWaitMs, MAX_FAILING_WAIT_MS);
  const timer = setTimeout(() => own.reject(new StoreFailure(why)), waitMs);
  await own.promise.finally(() => {
    clearTimeout(timer);
    waiting.delete(own);
  });
}

function fail(state: State, error: StoreFailure): void {
  state.failure = error;
  for (const { reject } of state.waiting) reject(new StoreFailure(error.message));
  state.waiting.clear();
}

function release(state: State): void {
  state.running--;
  for (const next of state.waiting) {
    if (!isFree(state)) return;
    state.running++;
    state.waiting.delete(next);
    next.resolve();
  }
}
