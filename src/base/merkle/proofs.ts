/** Which subtrees prove inclusion (RFC 9162 §2.1.3) and consistency (RFC 9162 §2.1.4), and their hashes. */
import { type Hash, nodeHash, splitOf } from "./tree.ts";

/** The leaves from `start` up to, but without, `end`. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the hash of a full subtree: the leaves from `index * 2 ** level`, `2 ** level` of them. */
export type ReadNode = (level: number, index: number) => Promise<Hash>;

/**
 * Returns the subtrees whose hashes are the inclusion proof of a leaf, the leaf's neighbour first.
 *
 * @param index position of the leaf, from 0
 * @param size number of leaves of the tree
 * @throws {RangeError} if the tree does not have this leaf
 */
export function inclusionPath(index: number, size: number): readonly LeafRange[] {
  if (!isCount(index) || !isCount(size) || index >= size) throw new RangeError("the tree has no such leaf");
  const path: LeafRange[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      path.unshift({ start: middle, end });
      end = middle;
    } else {
      path.unshift({ start, end: middle });
      start = middle;
    }
  }
  return path;
}

/**
 * Returns the subtrees whose hashes are the consistency proof between two sizes of one tree.
 *
 * @param from number of leaves of the earlier tree, at least 1
 * @param to number of leaves of the later tree
 * @throws {RangeError} if no tree of size `from` precedes one of size `to`
 */
export function consistencyPath(from: number, to: number): readonly LeafRange[] {
  if (!isCount(from) || !isCount(to) || from < 1 || from > to) throw new RangeError("no such pair of trees");
  const path: LeafRange[] = [];
  let [start, end] = [0, to];
  while (from < end) {
    const middle = start + splitOf(end - start);
    if (from <= middle) {
      path.unshift({ start: middle, end });
      end = middle;
    } else {
      path.unshift({ start, end: middle });
      start = middle;
    }
  }
  return start === 0 ? path : [{ start, end }, ...path]; // the earlier root is not a subtree of the later tree
}

/** Returns the hashes of these ranges. */
export async function hashesOf(path: readonly LeafRange[], read: ReadNode): Promise<readonly Hash[]> {
  return await Promise.all(path.map((range) => rangeHash(range, read)));
}

/** Returns the hash of a range that {@link inclusionPath} or {@link consistencyPath} returned, or of a whole tree. */
export async function rangeHash({ start, end }: LeafRange, read: ReadNode): Promise<Hash> {
  const size = end - start;
  const split = splitOf(size);
  if (size <= 1 || split * 2 === size) return await read(Math.round(Math.log2(size)), start / size);
  const [left, right] = await Promise.all([
    rangeHash({ start, end: start + split }, read),
    rangeHash({ start: start + split, end }, read),
  ]);
  return nodeHash(left, right);
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
