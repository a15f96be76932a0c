/** Proofs of the evidence log, read from its tiles. */
import { consistencyPath, hashesOf, inclusionPath, type ReadNode } from "../../base/merkle/proofs.ts";
import type { Hash } from "../../base/merkle/tree.ts";
import type { LogStore } from "./log_store.ts";
import { nodesOf } from "./tiles.ts";

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
  const read = readEachOnce(log);
  return {
    checkpoint,
    size,
    async inclusion(leaf, at) {
      const index = await log.indexOf(leaf, at);
      if (index === undefined || index >= size) return undefined;
      return { index, proof: await hashesOf(inclusionPath(index, size), read) };
    },
    isAwaited: async (leaf, at) =>
      await log.isWaiting(leaf, at) || (await log.indexOf(leaf, at) ?? -1) >= size,
    async consistency(from, to) {
      if (!(1 <= from && from <= to && to <= size)) return undefined;
      return await hashesOf(consistencyPath(from, to), read);
    },
  };
}

function readEachOnce(log: LogStore): ReadNode {
  const tiles = new Map<string, Promise<readonly Hash[]>>();
  return nodesOf((place) => {
    const name = `${place.level}/${place.index}`;
    const tile = tiles.get(name) ?? log.tiles([place]).then(([hashes = []]) => hashes);
    tiles.set(name, tile);
    return tile;
  });
}
