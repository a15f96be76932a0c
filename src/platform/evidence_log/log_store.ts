/**
 * Stores the evidence log. A commit that records something stages its leaf hash under a key of its own, so commits do
 * not wait for each other. `grow_log.ts` gives the waiting leaf hashes their places.
 */
import type { LeafRange } from "../../base/merkle/proofs.ts";
import { type Hash, hashText } from "../../base/merkle/tree.ts";
import { storeCopyKey } from "../../base/store/copy_mark.ts";
import type { Entry, Listing, Store } from "../../base/store/store.ts";
import { check, remove, type Transaction } from "../../base/store/transaction.ts";
import { logCheckpointKey, logHeadKey, logRangeKey, logTileKey, logWaitingKey } from "../store_keys.ts";
import {
  logCheckpointRecord,
  type LogEpoch,
  type LogHead,
  logHeadRecord,
  logRangeRecord,
  logTileRecord,
  logWaitingRecord,
} from "./log_records.ts";
import type { Tile, TilePlace } from "./tiles.ts";

/** A leaf hash without a place. */
export interface WaitingLeaf {
  readonly entry: Entry<unknown>;
  readonly leaf: Hash;
  /** The time that it was staged with, milliseconds. */
  readonly at: number;
}

/** Reads and changes the log. */
export interface LogStore {
  head(): Promise<Entry<LogHead> | null>;
  /** Returns the oldest leaf hashes without a place, at most `limit`. */
  waiting(limit: number): Promise<readonly WaitingLeaf[]>;
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
  readonly placed: readonly WaitingLeaf[];
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
  logWaitingRecord.set(tx, logWaitingKey(at, hashText(leaf)), {});
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
  check(tx, logHeadKey, former?.version ?? null);
  logHeadRecord.set(tx, logHeadKey, { size, at, epoch: { ...epoch, size } });
}

export function openLogStore(store: Store): LogStore {
  return {
    head: () => logHeadRecord.get(store, logHeadKey),
    async waiting(limit) {
      const entries = await store.list({ prefix: [logWaitingRecord.name], limit });
      return entries.map((entry) => ({
        entry,
        leaf: Uint8Array.fromBase64(entry.key.at(-1) ?? "", BASE64URL),
        at: Number(entry.key[1]),
      }));
    },
    async tiles(places) {
      const found = await store.getMany(places.map(({ level, index }) => logTileKey(level, index)));
      return found.map((entry) => entry === null ? [] : hashesIn(logTileRecord.decode(entry).value.hashes));
    },
    async *ranges(at) {
      const prefix = logRangeKey(secondOf(at), 0).slice(0, 2);
      for await (const entry of entriesBelow(store, { prefix, limit: RANGES })) {
        yield { start: Number(entry.key.at(-1)), end: logRangeRecord.decode(entry).value.end };
      }
    },
    smallestSizeAfter: openSmallestSizes(store),
    isWaiting: async (leaf, at) => await store.get(logWaitingKey(at, hashText(leaf))) !== null,
    stageGrowth(tx, former, { head, placed, tiles }) {
      check(tx, logHeadKey, former?.version ?? null); // the start of an epoch changes the head
      check(tx, storeCopyKey, null);
      const first = former?.value.size ?? 0;
      for (const { entry } of placed) remove(tx, entry.key);
      stageRanges(tx, first, placed);
      for (const { level, index, hashes } of tiles) {
        logTileRecord.set(tx, logTileKey(level, index), { hashes: textOf(hashes) });
      }
      logHeadRecord.set(tx, logHeadKey, head);
      const hour = Math.floor(head.at / HOUR_MS) * HOUR_MS;
      logCheckpointRecord.set(tx, logCheckpointKey(hour), { checkpoint: head.checkpoint });
    },
  };
}

/** Leaf hashes wait in the order of their times, so those of one second get neighbouring places. */
function stageRanges(tx: Transaction, first: number, placed: readonly WaitingLeaf[]): void {
  let end = first;
  for (const [second, leaves] of Map.groupBy(placed, ({ at }) => secondOf(at))) {
    const start = end;
    end += leaves.length;
    logRangeRecord.set(tx, logRangeKey(second, start), { end });
  }
}

const secondOf = (at: number): number => Math.floor(at / SECOND_MS) * SECOND_MS;

/** In one page. */
const [RANGES, CHECKPOINTS] = [100, 500];

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
  const listing = { prefix: [logCheckpointRecord.name], after, limit: CHECKPOINTS };
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
