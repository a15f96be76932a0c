/**
 * Writes are staged on a transaction that the use case owns and commits once. Markers of things used up
 * (a proof's jti, an assertion's jti, a bank's JWT) ride in the same commit as the effect they guard.
 */
import type { RefusalReason } from "../kernel/api_error.ts";
import { Refusal } from "../kernel/api_error.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Check, Key, Store, Write } from "./store.ts";

/** Something that may be used once: the commit fails with `refusal` where its key was spent and has not expired. */
export interface Once {
  readonly key: Key;
  /** Milliseconds; until then a second use is refused. */
  readonly expiresAt: number;
  readonly refusal: RefusalReason;
  /** What the caller reads about a second use, in place of the reason's own words. */
  readonly description?: string;
}

/**
 * The single-use markers one request has earned so far. Whoever commits first takes them along; a request that
 * writes nothing else has them committed at its end (`platform/http/spend_markers.ts`), refused ones included.
 */
export interface Markers {
  readonly pending: Once[];
  /** The refusal that a commit has thrown because one of them was spent before. */
  refusal?: Refusal;
}

/** Staged work; `markers` are spent together with it. */
export interface Transaction {
  readonly checks: Check[];
  readonly writes: Write[];
  readonly markers: Markers;
}

interface SpentMarker {
  readonly expiresAt: number;
}

/** An empty set of markers, one per request. */
export function newMarkers(): Markers {
  return { pending: [] };
}

/** An empty transaction over a request's markers. */
export function begin(markers: Markers = newMarkers()): Transaction {
  return { checks: [], writes: [], markers };
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
 * Commits the staged work and the markers in one atomic step.
 *
 * @returns false if a check failed: nothing was written, the caller reads again and decides.
 * @throws {Refusal} with the marker's own reason if one was spent before, `platform.unavailable` if the markers kept
 *   changing; nothing was written.
 */
export async function commit(store: Store, clock: Clock, tx: Transaction): Promise<boolean> {
  const markers = [...tx.markers.pending];
  const writes = [...tx.writes, ...markers.map(spendingWrite)];
  let versions: readonly (string | null)[] = markers.map(() => null);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const unspent = markers.map(({ key }, index): Check => ({ key, version: versions[index] ?? null }));
    if (await store.commit({ checks: [...tx.checks, ...unspent], writes })) return settled(tx);
    // Either a marker's key exists (spent, or expired and not yet deleted) or a check of the work failed.
    const found = await store.getMany<SpentMarker>(markers.map(({ key }) => key));
    const now = clock();
    const isSpent = (index: number): boolean => now < (found[index]?.value.expiresAt ?? 0);
    refuseSpent(tx.markers, markers.filter((_, index) => isSpent(index)));
    const current = found.map((entry) => entry?.version ?? null);
    if (current.every((version, index) => version === versions[index])) return false;
    versions = current; // markers as they are now, expired ones to be replaced
  }
  throw contended("markers");
}

/**
 * Makes attempts until one commits. An attempt reads, decides and commits; it returns undefined if its commit returned
 * false. Only the first may use what the request has read already.
 *
 * @throws {Refusal} what an attempt throws, or `platform.unavailable` after losing every race
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

/** The refusal of a request that has lost its races: nothing was written, and it may be repeated. */
export function contended(what: string): Refusal {
  return new Refusal("platform.unavailable", { detail: `contended: ${what}`, retryAfterSeconds: 1 });
}

function spendingWrite(marker: Once): Write {
  return {
    kind: "set",
    key: marker.key,
    value: { expiresAt: marker.expiresAt },
    expiresAt: marker.expiresAt,
  };
}

/** Those that are not spent stay pending: the request's end spends them. */
function refuseSpent(markers: Markers, spent: readonly Once[]): void {
  const [first] = spent;
  if (first === undefined) return;
  for (const marker of spent) markers.pending.splice(markers.pending.indexOf(marker), 1);
  throw markers.refusal = usedBefore(first);
}

/** The refusal of a second use. */
export function usedBefore({ refusal, description }: Once): Refusal {
  return new Refusal(refusal, {
    detail: "used before",
    ...(description === undefined ? {} : { description }),
  });
}

function settled(tx: Transaction): true {
  tx.markers.pending.length = 0;
  return true;
}
