/**
 * Stores the evidence log. A commit that records something stages its leaf hash under a key of its own, so commits do
 * not wait for each other. Commits that a file makes in one transaction share a row. `grow_log.ts` gives the waiting
 * leaf hashes their places.
 */
import type { LeafRange } from "../../../base/merkle/proofs.ts";
import { type Hash, hashText } from "../../../base/merkle/tree.ts";
import { storeCopyKey } from "../../../base/store/copy_mark.ts";
import { logWaitingRecord, type TimedLeaf } from "../../../base/store/base_records.ts";
import type { Entry, Key, Listing, Store, Write } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import {
  logCheckpointKey,
  logHeadKey,
  logRangeKey,
  logTileKey,
  logWaitingKey,
} from "../../config/store_keys.ts";
import {
  logCheckpointRecord,
  type LogEpoch,
  type LogHead,
  logHeadRecord,
  logRangeRecord,
  logTileRecord,
} from "./log_records.ts";
import type { Tile, TilePlace } from "./tiles.ts";

/** Leaf hashes without a place. */
export interface WaitingLeaves {
  /** The keys of their rows. */
  readonly rows: readonly Key[];
  /** In the order of their times. */
  readonly leaves: readonly TimedLeaf[];
  /** Whether certainly no others wait. */
  readonly areAll: boolean;
}

/** Reads and changes the log. */
export interface LogStore {
  head(): Promise<Entry<LogHead> | null>;
  /**
   * Returns the oldest leaf hashes without a place: at most {@link MAX_LEAVES}, and as many as take at most this many
   * mutations, one for each row and one for each second of their times; or those of one row, if it takes more.
   */
  waiting(mutations: number): Promise<WaitingLeaves>;
  /** Returns the hashes of tiles, in this order. A tile that does not exist has none. */
  tiles(places: readonly TilePlace[]): Promise<readonly (readonly Hash[])[]>;
  /**
   * Returns the places of the leaf hashes that were staged in the second of this time (milliseconds). They are few: those
   * of two batches, unless commits became visible late.
   */
  ranges(at: number): AsyncIterable<LeafRange>;
  /**
   * Returns the smallest size that a kept checkpoint of a later hour than `at` (milliseconds) signs, or Infinity if none
   * does. A leaf from this size on got its place after that time, whatever the clocks have told since.
   */
  smallestSizeAfter(at: number): Promise<number>;
  /** Whether a leaf hash that was staged with this time (milliseconds) has no place yet. */
  isWaiting(leaf: Hash, at: number): Promise<boolean>;
  /**
   * Stages the next state of the log. Of parallel changes only one commits, and none in a restored copy whose epoch has
   * not begun: a change from before the restore may have read leaf hashes that the copy lacks.
   */
  stageGrowth(tx: Transaction, former: Entry<LogHead> | null, growth: Growth): void;
}

/** One change of the log. */
export interface Growth {
  readonly head: LogHead & { readonly checkpoint: string };
  /** The leaf hashes that get places, from the former size on. */
  readonly placed: WaitingLeaves;
  readonly tiles: readonly Tile[];
}

const HASH_BYTES = 32;
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const BASE64URL = { alphabet: "base64url" } as const;

/**
 * Stages a leaf hash in the commit of what it stands for. It must be unique, so its entry has random bytes.
 *
 * @param at milliseconds
 */
export function stageLeaf(tx: Transaction, leaf: Hash, at: number): void {
  const writes: Write[] = [];
  const text = hashText(leaf);
  logWaitingRecord.set({ writes }, logWaitingKey(at, text), { leaves: [{ at, leaf: text }] });
  tx.writes.push(...writes.map((write) => ({ ...write, join: asOneRow })));
}

function asOneRow(rows: readonly Entry<unknown>[]): readonly Write[] {
  const writes: Write[] = [];
  const leaves = rows.flatMap((row) => logWaitingRecord.decode(row).value.leaves);
  logWaitingRecord.set({ writes }, rows[0]?.key ?? [], { leaves });
  return writes;
}

/**
 * Stages in the log's head that the log goes on from a restored copy. The log has no checkpoint until one that declares
 * this is signed: a witness would take the copy's last checkpoint for a log that was shortened (contract EV6, EV8).
 */
export function stageLogEpoch(
  tx: Transaction,
  former: Entry<LogHead> | null,
  epoch: Omit<LogEpoch, "size">,
): void {
  const size = former?.value.size ?? 0;
  const at = former?.value.at ?? epoch.startedAt;
  logHeadRecord.replace(tx, logHeadKey, former, { size, at, epoch: { ...epoch, size } });
}

export function openLogStore(store: Store): LogStore {
  return {
    head: () => logHeadRecord.get(store, logHeadKey),
    waiting: (mutations) => waiting(store, mutations),
    async tiles(places) {
      const found = await store.getMany(places.map(({ level, index }) => logTileKey(level, index)));
      return found.map((entry) => entry === null ? [] : hashesIn(logTileRecord.decode(entry).value.hashes));
    },
    async *ranges(at) {
      const prefix = logRangeKey(secondOf(at), 0).slice(0, 2);
      for await (const entry of entriesBelow(store, { prefix, limit: PIECE })) {
        yield { start: Number(entry.key.at(-1)), end: logRangeRecord.decode(entry).value.end };
      }
    },
    smallestSizeAfter: openSmallestSizes(store),
    isWaiting: async (leaf, at) =>
      await store.get(logWaitingKey(at, hashText(leaf))) !== null || await isInRow(store, hashText(leaf)),
    stageGrowth(tx, former, { head, placed, tiles }) {
      check(tx, storeCopyKey, null);
      const first = former?.value.size ?? 0;
      for (const row of placed.rows) remove(tx, row);
      stageRanges(tx, first, placed.leaves);
      for (const { level, index, hashes } of tiles) {
        logTileRecord.set(tx, logTileKey(level, index), { hashes: textOf(hashes) });
      }
      logHeadRecord.replace(tx, logHeadKey, former, head); // the start of an epoch changes it
      const hour = Math.floor(head.at / HOUR_MS) * HOUR_MS;
      logCheckpointRecord.set(tx, logCheckpointKey(hour), { checkpoint: head.checkpoint });
    },
  };
}

/** Bounds the time in which a process hashes and does nothing else to about 10 ms. */
const MAX_LEAVES = 2048;

async function waiting(store: Store, mutations: number): Promise<WaitingLeaves> {
  const rows = await logWaitingRecord.list(store, { limit: mutations });
  const [taken, leaves, seconds] = [[] as Key[], [] as TimedLeaf[], new Set<number>()];
  for (const { key, value: { leaves: others } } of rows) {
    for (const { at } of others) seconds.add(secondOf(at));
    const fits = taken.length + 1 + seconds.size <= mutations && leaves.length + others.length <= MAX_LEAVES;
    if (taken.length > 0 && !fits) break;
    taken.push(key);
    leaves.push(...others);
  }
  return {
    rows: taken,
    leaves: leaves.toSorted((one, other) => one.at - other.at),
    areAll: taken.length === rows.length && rows.length < mutations,
  };
}

/** A row has the key of its first leaf hash. The rows are few: those of about a second, unless no process has placed them. */
async function isInRow(store: Store, leaf: string): Promise<boolean> {
  for await (const row of entriesBelow(store, { prefix: [logWaitingRecord.name], limit: PIECE })) {
    if (logWaitingRecord.decode(row).value.leaves.some((waits) => waits.leaf === leaf)) return true;
  }
  return false;
}

/** Neighbours in the order of their times, so leaf hashes of one second get neighbouring places. */
function stageRanges(tx: Transaction, first: number, placed: readonly TimedLeaf[]): void {
  let end = first;
  for (const [second, leaves] of Map.groupBy(placed, ({ at }) => secondOf(at))) {
    const start = end;
    end += leaves.length;
    logRangeRecord.set(tx, logRangeKey(second, start), { end });
  }
}

const secondOf = (at: number): number => Math.floor(at / SECOND_MS) * SECOND_MS;

const PIECE = 200;

/**
 * Remembers the size of the last hour that was asked for, because years have thousands of checkpoints and each case of a
 * pass asks. Later checkpoints are never smaller, and one of the same hour that is larger replaces it: what is remembered
 * is right or too small, which keeps a case for longer.
 */
function openSmallestSizes(store: Store): LogStore["smallestSizeAfter"] {
  let known: { readonly hour: number; readonly size: number } | undefined;
  return async (at) => {
    const hour = Math.floor(at / HOUR_MS);
    if (known?.hour === hour) return known.size;
    const size = await smallestSizeAfter(store, at);
    if (size !== Infinity) known = { hour, size };
    return size;
  };
}

async function smallestSizeAfter(store: Store, at: number): Promise<number> {
  const after = logCheckpointKey(Math.max(0, at));
  const listing = { prefix: [logCheckpointRecord.name], after, limit: PIECE };
  let smallest = Infinity;
  for await (const entry of entriesBelow(store, listing)) {
    smallest = Math.min(smallest, sizeIn(logCheckpointRecord.decode(entry).value.checkpoint));
  }
  return smallest;
}

/** Returns the entries of a listing and of the pages that follow it. */
async function* entriesBelow(store: Store, listing: Listing): AsyncGenerator<Entry<unknown>> {
  let page = await store.list(listing);
  yield* page;
  while (page.length === listing.limit) {
    page = await store.list({ ...listing, after: page.at(-1)?.key ?? [] });
    yield* page;
  }
}

/** Of a checkpoint that the platform has signed itself. */
function sizeIn(checkpoint: string): number {
  const payload = Uint8Array.fromBase64(checkpoint.split(".")[1] ?? "", BASE64URL);
  const { size } = JSON.parse(new TextDecoder().decode(payload)) as { readonly size: unknown };
  return Number(size);
}

function textOf(hashes: readonly Hash[]): string {
  const bytes = new Uint8Array(hashes.length * HASH_BYTES);
  for (const [at, hash] of hashes.entries()) bytes.set(hash, at * HASH_BYTES);
  return hashText(bytes);
}

function hashesIn(text: string): readonly Hash[] {
  const bytes = Uint8Array.fromBase64(text, BASE64URL);
  return Array.from(
    { length: bytes.length / HASH_BYTES },
    (_, at) => bytes.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}
