/**
 * The evidence log's tree, cut into tiles. A tile of level 0 has the hashes of 256 leaves. A hash of level n + 1 is the
 * root of a full tile of level n. Tiles only grow, and a full tile never changes, so any proof reads few of them.
 */
import type { ReadNode } from "../../../base/merkle/proofs.ts";
import { type Hash, treeHead } from "../../../base/merkle/tree.ts";

/** Hashes in a full tile. */
export const TILE = 256;
/** The levels of the tree in one tile: 2 ** 8 hashes. */
const LEVELS_IN_TILE = 8;

/** Where a tile is. */
export interface TilePlace {
  readonly level: number;
  /** From 0, the tile with the oldest leaves. */
  readonly index: number;
}

export interface Tile extends TilePlace {
  readonly hashes: readonly Hash[];
}

/** Returns the hashes of a tile. */
export type ReadTile = (place: TilePlace) => Promise<readonly Hash[]>;

/** The unfinished tiles of a tree, by level. A level whose tiles are all full has an empty one. */
export type Edge = readonly (readonly Hash[])[];

/** Returns the unfinished tiles of a tree of `size` leaves, by level, or undefined for a level without one. */
export function edgeOf(size: number): readonly (TilePlace | undefined)[] {
  const places: (TilePlace | undefined)[] = [];
  for (let [level, count] = [0, size]; count > 0; level++, count = Math.floor(count / TILE)) {
    places.push(count % TILE === 0 ? undefined : { level, index: Math.floor(count / TILE) });
  }
  return places;
}

/** Returns the tiles that change if these leaves are appended to a tree of `size` leaves, and the new edge. */
export function appendLeaves(
  size: number,
  edge: Edge,
  leaves: readonly Hash[],
): { readonly tiles: readonly Tile[]; readonly edge: Edge } {
  const tiles: Tile[] = [];
  const next: (readonly Hash[])[] = [];
  let [added, count] = [leaves, size];
  for (let level = 0; added.length > 0 || level < edge.length; level++) {
    const first = Math.floor(count / TILE);
    const hashes = [...edge[level] ?? [], ...added];
    const roots: Hash[] = [];
    for (let start = 0; added.length > 0 && start < hashes.length; start += TILE) {
      const tile = hashes.slice(start, start + TILE);
      tiles.push({ level, index: first + start / TILE, hashes: tile });
      if (tile.length === TILE) roots.push(treeHead(tile));
    }
    next.push(hashes.slice(roots.length * TILE));
    [added, count] = [roots, first];
  }
  return { tiles, edge: next };
}

/** Returns the root of the tree with this edge: each level ends with the root of the unfinished tile below it. */
export function rootOf(edge: Edge): Hash {
  let below: readonly Hash[] = [];
  for (const hashes of edge) {
    const level = [...hashes, ...below];
    below = level.length === 0 ? [] : [treeHead(level)];
  }
  return below[0] ?? treeHead([]);
}

/**
 * Returns a reader of the full subtrees of a tree.
 *
 * @param read returns the hashes of a tile
 * @throws {Error} when it reads a subtree that the tiles do not have
 */
export function nodesOf(read: ReadTile): ReadNode {
  return async (level, index) => {
    const count = 2 ** (level % LEVELS_IN_TILE);
    const first = index * count;
    const place = { level: Math.floor(level / LEVELS_IN_TILE), index: Math.floor(first / TILE) };
    const start = first % TILE;
    const hashes = (await read(place)).slice(start, start + count);
    if (hashes.length === count) return treeHead(hashes);
    throw new Error(`tile ${place.level}/${place.index} of the evidence log is incomplete`);
  };
}
