/**
 * A use case stages its writes on a transaction and commits them once. Replay records of single-use values (a proof's
 * jti, an assertion's jti, a bank's JWT) are part of the same commit as the effect that they guard.
 */
import type { ErrorReason } from "../kernel/api_error.ts";
import { ApiError } from "../kernel/api_error.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Check, Key, Store, Write } from "./store.ts";

/** A single-use value. The commit fails with `rejection` if its key was used before and has not expired. */
export interface Once {
  readonly key: Key;
  /** Milliseconds since the Unix epoch. Until then a second use is rejected. */
  readonly expiresAt: number;
  readonly rejection: ErrorReason;
  /** `error_description` for a second use, in place of the reason's own. */
  readonly description?: string;
}

/**
 * The replay records that one request has collected. The first commit of the request writes them. If a request writes
 * no other data, they are committed at its end (`platform/http/commit_replay_records.ts`), also if it is rejected.
 */
export interface ReplayRecords {
  readonly pending: Once[];
  /** The rejection that a commit has thrown because one of them was used before. */
  rejection?: ApiError;
}

/** Staged work. Its replay records are written in the same commit. */
export interface Transaction {
  readonly checks: Check[];
  readonly writes: Write[];
  readonly replayRecords: ReplayRecords;
}

interface SpentReplayRecord {
  readonly expiresAt: number;
}

/** An empty set of replay records. Each request has one. */
export function newReplayRecords(): ReplayRecords {
  return { pending: [] };
}

/** Begins an empty transaction with a request's replay records. */
export function begin(replayRecords: ReplayRecords = newReplayRecords()): Transaction {
  return { checks: [], writes: [], replayRecords };
}

/** Stages the check that an entry is unchanged (a version) or that a key is new (null). */
export function check(tx: Transaction, key: Key, version: string | null): void {
  tx.checks.push({ key, version });
}

/** Stages a write. `expiresAt` is in milliseconds since the Unix epoch. */
export function set(tx: Transaction, key: Key, value: unknown, expiresAt?: number): void {
  tx.writes.push(
    expiresAt === undefined ? { kind: "set", key, value } : { kind: "set", key, value, expiresAt },
  );
}

export function remove(tx: Transaction, key: Key): void {
  tx.writes.push({ kind: "delete", key });
}

/**
 * Number of attempts before a request gives up. Each lost race means that another request succeeded, so few requests
 * lose more than two.
 */
const MAX_ATTEMPTS = 8;

/**
 * Commits the staged work and the replay records in one atomic step.
 *
 * @returns false if a check failed. Then no write happened, and the caller reads again and decides.
 * @throws {ApiError} with the replay record's own reason if one was used before, or `platform.unavailable` if the
 * replay records kept changing. Then no write happened.
 */
export async function commit(store: Store, clock: Clock, tx: Transaction): Promise<boolean> {
  const replayRecords = [...tx.replayRecords.pending];
  const writes = [...tx.writes, ...replayRecords.map(spendingWrite)];
  let versions: readonly (string | null)[] = replayRecords.map(() => null);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const unspent = replayRecords.map(({ key }, index): Check => ({ key, version: versions[index] ?? null }));
    if (await store.commit({ checks: [...tx.checks, ...unspent], writes })) return settled(tx);
    // Either a replay record's key exists (used, or expired and not yet deleted) or a check of the work failed.
    const found = await store.getMany<SpentReplayRecord>(replayRecords.map(({ key }) => key));
    const now = clock();
    const isSpent = (index: number): boolean => now < (found[index]?.value.expiresAt ?? 0);
    rejectSpent(tx.replayRecords, replayRecords.filter((_, index) => isSpent(index)));
    const current = found.map((entry) => entry?.version ?? null);
    if (current.every((version, index) => version === versions[index])) return false;
    versions = current; // the current versions, so that expired replay records are replaced
  }
  throw contended("replayRecords");
}

/**
 * Repeats attempts until one commits. An attempt reads, decides and commits. It returns undefined if its commit
 * returned false. Only the first attempt may use prefetched entries.
 *
 * @throws {ApiError} what an attempt throws, or `platform.unavailable` after losing every race
 */
export async function untilCommitted<T>(
  what: string,
  attempt: (isFirst: boolean) => Promise<T | undefined>,
): Promise<T> {
  for (let made = 0; made < MAX_ATTEMPTS; made++) {
    const committed = await attempt(made === 0);
    if (committed !== undefined) return committed;
  }
  throw contended(what);
}

/** Returns the error of a request that has lost its races. No write happened, and the caller may retry. */
export function contended(what: string): ApiError {
  return new ApiError("platform.unavailable", { detail: `contended: ${what}`, retryAfterSeconds: 1 });
}

/**
 * A replay record is stored for one hour longer than needed, because its JWT may become valid again if the clock is
 * put back. After a larger step a proof for a resource has no valid token: access tokens expire after one hour.
 */
const KEPT_LONGER_MS = 3_600_000;

function spendingWrite(replayRecord: Once): Write {
  return {
    kind: "set",
    key: replayRecord.key,
    value: { expiresAt: replayRecord.expiresAt },
    expiresAt: replayRecord.expiresAt + KEPT_LONGER_MS,
  };
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

export function usedBefore({ rejection, description }: Once): ApiError {
  return new ApiError(rejection, {
    detail: "used before",
    ...(description === undefined ? {} : { description }),
  });
}

function settled(tx: Transaction): true {
  tx.replayRecords.pending.length = 0;
  return true;
}
