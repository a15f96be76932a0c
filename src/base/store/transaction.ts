/**
 * Transactions: a use case reads entries, decides, stages its writes and commits them once. Replay records of
 * single-use values (a proof's jti, an assertion's jti, a bank's JWT) are part of the same commit as the effect that
 * they guard.
 */
import type { ErrorReason } from "../kernel/api_error.ts";
import { ApiError } from "../kernel/api_error.ts";
import { ATTEMPT_WITHIN_MS, type Clock, monotonicClock, type WallTime } from "../kernel/clock.ts";
import type { Mismatch } from "../kernel/result.ts";
import { openRequestReads, type RequestReads } from "./request_reads.ts";
import { SPENT_KEPT_LONGER_MS, spentJwtRecord } from "./base_records.ts";
import type { Check, Entry, Key, Reader, Store, Write } from "./store.ts";

/** A single-use value. The commit fails with `rejection` if its key was used before and has not expired. */
export interface Once {
  readonly key: Key;
  /** Milliseconds since the Unix epoch. Until then a second use is rejected. */
  readonly expiresAt: WallTime;
  readonly rejection: ErrorReason;
  /** Explains a second use to a caller with a proven certificate. */
  readonly fault: Mismatch;
}

/**
 * The replay records that one request has collected. The first commit of the request writes them. If a request writes
 * no other data, they are committed at its end (`platform/guards/security/dpop_proof.ts`), also if it is rejected.
 */
export interface ReplayRecords {
  readonly pending: Once[];
  /** The rejection that a commit has thrown because one of them was used before. */
  rejection?: ApiError;
}

/** The entries that a request has read, and its replay records. */
export interface RequestState {
  readonly reads: RequestReads;
  readonly replayRecords: ReplayRecords;
  /** The request's `x-fapi-interaction-id`, for the histories that it changes. */
  readonly interactionId: string;
}

/** Like {@link RequestState}, for work that no request causes. */
export type BackgroundState = Omit<RequestState, "interactionId">;

/** One attempt: reads entries, and collects the checks and writes of its commit. */
export interface Transaction extends Reader {
  /** Of the request that causes the change; absent in background work. */
  readonly interactionId?: string;
  readonly checks: Check[];
  readonly writes: Write[];
  /** Called once the commit has succeeded. They must not throw. */
  readonly onCommit: (() => void)[];
}

export interface TransactDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export interface TransactOptions<T> {
  /** The changed thing, for the log of a request that has lost every race. */
  readonly what: string;
  /** Maximum number of attempts, {@link MAX_ATTEMPTS} by default. */
  readonly attempts?: number;
  /** Called after the last attempt has lost its race. By default the request gets `platform.unavailable`. */
  readonly lost?: () => T;
}

/** An empty set of replay records. Each request has one. */
export function newReplayRecords(): ReplayRecords {
  return { pending: [] };
}

/** Stages the check that an entry is unchanged (a version) or that a key is new (null). */
export function check(tx: Transaction, key: Key, version: string | null): void {
  tx.checks.push({ key, version });
}

/** Returns the request that causes the change, as members of a stored value. Background work has none. */
export function causeOf(
  { interactionId }: Pick<Transaction, "interactionId">,
): Pick<Transaction, "interactionId"> {
  return interactionId === undefined ? {} : { interactionId };
}

/** Stages a deletion. A record stages its own writes (`record.ts`). */
export function remove(tx: Transaction, key: Key): void {
  tx.writes.push({ kind: "delete", key });
}

/**
 * Number of attempts before a request gives up. Each lost race means that another request succeeded, so few requests
 * lose more than two.
 */
const MAX_ATTEMPTS = 8;

/**
 * Reads, decides and commits in one atomic step, for work that no request causes. An attempt reads through `tx` and
 * stages its checks and writes. If a checked entry has changed meanwhile, no write happens, and the attempt runs again
 * on the current entries. An attempt that stages no work is not committed.
 *
 * @returns what the attempt that committed returned
 * @throws {ApiError} what an attempt throws; a replay record's own reason if one was used before; or
 * `platform.unavailable` after losing every race, or after an attempt that took longer than
 * {@link ATTEMPT_WITHIN_MS}. Then no write happened.
 */
export async function transact<T>(
  deps: TransactDeps,
  options: TransactOptions<T>,
  attempt: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return await transactFor(deps, undefined, options, attempt);
}

/**
 * Like {@link transact}, for a request. The first attempt uses the entries that the request has read, and its replay
 * records are part of the commit. They stay pending if no work is committed.
 *
 * @param request undefined for work that a request or an operator may cause, if it was the operator
 */
export async function transactFor<T>(
  deps: TransactDeps,
  request: RequestState | BackgroundState = background(deps.store),
  { what, attempts = MAX_ATTEMPTS, lost }: TransactOptions<T>,
  attempt: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let made = 0; made < attempts; made++) {
    const [tx, began] = [begin(request), monotonicClock()];
    const result = await attempt(tx);
    for (const staged of [tx.checks, tx.writes, tx.onCommit]) Object.freeze(staged); // what is not awaited fails
    if (tx.checks.length === 0 && tx.writes.length === 0) return result;
    // Its times are those of its begin, and lists count on it that no entry appears so late (contract LS3).
    if (monotonicClock() - began > ATTEMPT_WITHIN_MS) throw tooSlow(what);
    if (await commit(deps, tx, request)) return result;
  }
  if (lost === undefined) throw contendedError(what);
  return lost();
}

/**
 * Commits changes of entries that the caller has read. It is tried once.
 *
 * @returns false if a checked entry has changed since. Then no write happened.
 */
export async function commitIfUnchanged(
  deps: TransactDeps,
  stage: (tx: Transaction) => void,
): Promise<boolean> {
  const request = background(deps.store);
  const tx = begin(request);
  stage(tx);
  return await commit(deps, tx, request);
}

/**
 * Commits the replay records of a request that commits no other work.
 *
 * @throws {ApiError} as {@link transact}
 */
export async function commitReplayRecords(deps: TransactDeps, replayRecords: ReplayRecords): Promise<void> {
  const request = { ...background(deps.store), replayRecords };
  if (!await commit(deps, begin(request), request)) throw contendedError("replayRecords");
}

function background(store: Store): BackgroundState {
  return { reads: openRequestReads(store), replayRecords: newReplayRecords() };
}

function begin({ reads, ...request }: BackgroundState | RequestState): Transaction {
  const cause = "interactionId" in request ? { interactionId: request.interactionId } : {};
  return { ...cause, get: (key) => reads.get(key), checks: [], writes: [], onCommit: [] };
}

/** Entries that the request has read are out of date after a commit, whether it succeeded or not. */
async function commit(deps: TransactDeps, tx: Transaction, request: BackgroundState): Promise<boolean> {
  try {
    if (!await commitWith(deps, tx, request.replayRecords)) return false;
    for (const done of tx.onCommit) done();
    return true;
  } finally {
    request.reads.forget();
  }
}

/**
 * Commits the staged work and the replay records in one atomic step.
 *
 * @returns false if a check failed. Then no write happened.
 */
async function commitWith(
  { store, clock }: TransactDeps,
  tx: Transaction,
  records: ReplayRecords,
): Promise<boolean> {
  const pending = [...records.pending];
  const writes = [...tx.writes];
  for (const record of pending) stageReplayRecord({ writes }, record);
  let versions: readonly (string | null)[] = pending.map(() => null);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const unspent = pending.map(({ key }, index): Check => ({ key, version: versions[index] ?? null }));
    if (await store.commit({ checks: [...tx.checks, ...unspent], writes })) {
      records.pending.length = 0;
      return true;
    }
    // Either a replay record's key exists (used, or expired and not yet deleted) or a check of the work failed.
    const found = await store.getMany(pending.map(({ key }) => key));
    const now = clock();
    const isSpent = (index: number): boolean => now < expiryOf(found[index]);
    rejectSpent(records, pending.filter((_, index) => isSpent(index)));
    const current = found.map((entry) => entry?.version ?? null);
    if (current.every((version, index) => version === versions[index])) return false;
    versions = current; // the current versions, so that expired replay records are replaced
  }
  throw contendedError("replayRecords");
}

/** Returns the error of a request that has lost its races. No write happened, and the caller may retry. */
export function contendedError(what: string): ApiError {
  return new ApiError("platform.unavailable", { detail: `contended: ${what}`, retryAfterSeconds: 1 });
}

function tooSlow(what: string): ApiError {
  return new ApiError("platform.unavailable", { detail: `slow: ${what}`, retryAfterSeconds: 1 });
}

function stageReplayRecord(tx: Pick<Transaction, "writes">, { key, expiresAt }: Once): void {
  spentJwtRecord.set(tx, key, { expiresAt }, expiresAt + SPENT_KEPT_LONGER_MS);
}

function expiryOf(entry: Entry<unknown> | null | undefined): number {
  return entry ? spentJwtRecord.decode(entry).value.expiresAt : 0;
}

/**
 * Stages a single-use value in an attempt. Of parallel uses one commits, and the others attempt again. Use it if an
 * attempt must first see whether its own effect is there already.
 *
 * @throws {ApiError} its reason if it was used before
 */
export async function stageOnce(tx: Transaction, once: Once, now: WallTime): Promise<void> {
  const entry = await spentJwtRecord.get(tx, once.key);
  if (now < (entry?.value.expiresAt ?? 0)) throw usedBefore(once);
  check(tx, once.key, entry?.version ?? null);
  stageReplayRecord(tx, once);
}

/** Unused records stay pending, and are committed at the end of the request. */
function rejectSpent(replayRecords: ReplayRecords, spent: readonly Once[]): void {
  const [first] = spent;
  if (first === undefined) return;
  for (const replayRecord of spent) {
    replayRecords.pending.splice(replayRecords.pending.indexOf(replayRecord), 1);
  }
  throw replayRecords.rejection = usedBefore(first);
}

export function usedBefore({ rejection, fault }: Once): ApiError {
  return new ApiError(rejection, { detail: "used before", fault, security: "security.replay" });
}
