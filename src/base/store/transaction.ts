/**
 * Writes are staged on a transaction that the use case owns and commits once. ReplayRecords of things used up
 * (a proof's jti, an assertion's jti, a bank's JWT) ride in the same commit as the effect they guard.
 */
import type { ErrorReason } from "../kernel/api_error.ts";
import { ApiError } from "../kernel/api_error.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Check, Key, Store, Write } from "./store.ts";

/** Something that may be used once: the commit fails with `refusal` where its key was spent and has not expired. */
export interface Once {
  readonly key: Key;
  /** Milliseconds; until then a second use is rejected. */
  readonly expiresAt: number;
  readonly rejection: ErrorReason;
  /** What the caller reads about a second use, in place of the reason's own words. */
  readonly description?: string;
}

/**
 * The replay records one request has earned so far. Whoever commits first takes them along; a request that
 * writes nothing else has them committed at its end (`platform/http/spend_markers.ts`), rejected ones included.
 */
export interface ReplayRecords {
  readonly pending: Once[];
  /** The rejection that a commit has thrown because one of them was spent before. */
  rejection?: ApiError;
}

/** Staged work; `replay records` are spent together with it. */
export interface Transaction {
  readonly checks: Check[];
  readonly writes: Write[];
  readonly replayRecords: ReplayRecords;
}

interface SpentReplayRecord {
  readonly expiresAt: number;
}

/** An empty set of replay records, one per request. */
export function newReplayRecords(): ReplayRecords {
  return { pending: [] };
}

/** An empty transaction over a request's replay records. */
export function begin(replayRecords: ReplayRecords = newReplayRecords()): Transaction {
  return { checks: [], writes: [], replayRecords };
}

/** Stages "this entry is unchanged" (a version) or "this key is new" (null). */
export function check(tx: Transaction, key: Key, version: string | null): void {
  tx.checks.push({ key, version });
}

/** Stages a write; `expiresAt` in milliseconds. */
export function set(tx: Transaction, key: Key, value: unknown, expiresAt?: number): void {
  tx.writes.push(
    expiresAt === undefined ? { kind: "set", key, value } : { kind: "set", key, value, expiresAt },
  );
}

/** Stages a removal. */
export function remove(tx: Transaction, key: Key): void {
  tx.writes.push({ kind: "delete", key });
}

/** Lost races after which a request gives up. Each means that another one got on, so few requests lose more than two. */
const MAX_ATTEMPTS = 8;

/**
 * Commits the staged work and the replay records in one atomic step.
 *
 * @returns false if a check failed: nothing was written, the caller reads again and decides.
 * @throws {ApiError} with the replay record's own reason if one was spent before, `platform.unavailable` if the replay records kept
 *   changing; nothing was written.
 */
export async function commit(store: Store, clock: Clock, tx: Transaction): Promise<boolean> {
  const replayRecords = [...tx.replayRecords.pending];
  const writes = [...tx.writes, ...replayRecords.map(spendingWrite)];
  let versions: readonly (string | null)[] = replayRecords.map(() => null);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const unspent = replayRecords.map(({ key }, index): Check => ({ key, version: versions[index] ?? null }));
    if (await store.commit({ checks: [...tx.checks, ...unspent], writes })) return settled(tx);
    // Either a replay record's key exists (spent, or expired and not yet deleted) or a check of the work failed.
    const found = await store.getMany<SpentReplayRecord>(replayRecords.map(({ key }) => key));
    const now = clock();
    const isSpent = (index: number): boolean => now < (found[index]?.value.expiresAt ?? 0);
    rejectSpent(tx.replayRecords, replayRecords.filter((_, index) => isSpent(index)));
    const current = found.map((entry) => entry?.version ?? null);
    if (current.every((version, index) => version === versions[index])) return false;
    versions = current; // replay records as they are now, expired ones to be replaced
  }
  throw contended("replayRecords");
}

/**
 * Makes attempts until one commits. An attempt reads, decides and commits; it returns undefined if its commit returned
 * false. Only the first may use what the request has read already.
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

/** The rejection of a request that has lost its races: nothing was written, and it may be repeated. */
export function contended(what: string): ApiError {
  return new ApiError("platform.unavailable", { detail: `contended: ${what}`, retryAfterSeconds: 1 });
}

/**
 * A replay record is kept for an hour longer than it is needed. If the clock is put back, the JWT that it is about may be
 * valid again. After a longer step a proof for a resource finds no token: access tokens live for an hour.
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

/** Those that are not spent stay pending: the request's end spends them. */
function rejectSpent(replayRecords: ReplayRecords, spent: readonly Once[]): void {
  const [first] = spent;
  if (first === undefined) return;
  for (const replayRecord of spent) {
    replayRecords.pending.splice(replayRecords.pending.indexOf(replayRecord), 1);
  }
  throw replayRecords.rejection = usedBefore(first);
}

/** The rejection of a second use. */
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
