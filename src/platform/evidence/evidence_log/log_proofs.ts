/** Proofs of the evidence log, read from its tiles. */
import { consistencyPath, hashesOf, inclusionPath } from "../../../base/merkle/proofs.ts";
import { type Hash, isSameHash } from "../../../base/merkle/tree.ts";
import type { LogStore } from "./log_store.ts";
import { nodesOf, type ReadTile, TILE } from "./tiles.ts";

/** That the leaf hash is at this place of the tree that the checkpoint signs. */
export interface Inclusion {
  readonly index: number;
  readonly proof: readonly Hash[];
}

/** The newest checkpoint and proofs that belong to it. */
export interface LogView {
  /** The signed checkpoint. */
  readonly checkpoint: string;
  readonly size: number;
  /** Proves that a leaf hash that was staged with this time (milliseconds) is in the tree, or returns undefined if it is not. */
  inclusion(leaf: Hash, at: number): Promise<Inclusion | undefined>;
  /** Whether a leaf hash that was staged with this time (milliseconds) will be in the tree of a later checkpoint. */
  isAwaited(leaf: Hash, at: number): Promise<boolean>;
  /** Proves that a tree of `from` leaves grew to one of `to` leaves, or returns undefined if there are no such trees. */
  consistency(from: number, to: number): Promise<readonly Hash[] | undefined>;
}

/** Returns the log as its newest checkpoint signs it, or null if it has none. Reads each tile once. */
export async function viewLog(log: LogStore): Promise<LogView | null> {
  const head = (await log.head())?.value;
  if (head?.checkpoint === undefined) return null;
  const { size, checkpoint } = head;
  const readTile = readEachOnce(log);
  const readNode = nodesOf(readTile);
  return {
    checkpoint,
    size,
    async inclusion(leaf, at) {
      const index = await placeOf(log, leaf, at, readTile);
      if (index === undefined || index >= size) return undefined;
      return { index, proof: await hashesOf(inclusionPath(index, size), readNode) };
    },
    isAwaited: async (leaf, at) =>
      await log.isWaiting(leaf, at) || (await placeOf(log, leaf, at) ?? -1) >= size, // tiles have grown since
    async consistency(from, to) {
      if (!(1 <= from && from <= to && to <= size)) return undefined;
      return await hashesOf(consistencyPath(from, to), readNode);
    },
  };
}

/** Returns the place of a leaf hash that was staged with this time (milliseconds), or undefined if it has none. */
export async function placeOf(
  log: Pick<LogStore, "ranges" | "tiles">,
  leaf: Hash,
  at: number,
  readTile: ReadTile = readEachOnce(log),
): Promise<number | undefined> {
  for await (const { start, end } of log.ranges(at)) {
    for (let index = Math.floor(start / TILE); index * TILE < end; index++) {
      const place = index * TILE +
        (await readTile({ level: 0, index })).findIndex((hash) => isSameHash(hash, leaf));
      if (Math.max(start, index * TILE) <= place && place < end) return place;
    }
  }
  return undefined;
}

function readEachOnce(log: Pick<LogStore, "tiles">): ReadTile {
  const tiles = new Map<string, Promise<readonly Hash[]>>();
  return (place) => {
    const name = `${place.level}/${place.index}`;
    const tile = tiles.get(name) ?? log.tiles([place]).then(([hashes = []]) => hashes);
    tiles.set(name, tile);
    return tile;
  };
}
