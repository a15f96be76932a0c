/** Verification of inclusion (RFC 9162 §2.1.3.2) and consistency (RFC 9162 §2.1.4.2). */
import { type Hash, isSameHash, nodeHash } from "./tree.ts";

/** That a leaf is in a tree. */
export interface InclusionClaim {
  readonly leaf: Hash;
  /** Position of the leaf, from 0. */
  readonly index: number;
  /** Number of leaves of the tree. */
  readonly size: number;
  readonly root: Hash;
  readonly proof: readonly Hash[];
}

/** That a tree has grown out of an earlier one. */
export interface ConsistencyClaim {
  /** Numbers of leaves, at least 1. */
  readonly from: number;
  readonly to: number;
  readonly fromRoot: Hash;
  readonly toRoot: Hash;
  readonly proof: readonly Hash[];
}

/** Returns whether the proof shows that the tree has the leaf at this position. */
export function provesInclusion({ leaf, index, size, root, proof }: InclusionClaim): boolean {
  if (!areCounts(index, size) || index >= size) return false;
  let [node, last] = [index, size - 1];
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isRight(node) || node === last) {
      hash = nodeHash(sibling, hash);
      while (!isRight(node) && node !== 0) [node, last] = [up(node), up(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [node, last] = [up(node), up(last)];
  }
  return last === 0 && isSameHash(hash, root);
}

/** Returns whether the proof shows that the later tree begins with all leaves of the earlier one. */
export function provesConsistency({ from, to, fromRoot, toRoot, proof }: ConsistencyClaim): boolean {
  if (!areCounts(from, to) || from < 1 || from > to) return false;
  if (from === to) return proof.length === 0 && isSameHash(fromRoot, toRoot);
  let [node, last] = [from - 1, to - 1];
  while (isRight(node)) [node, last] = [up(node), up(last)];
  const [first, ...rest] = node === 0 ? [fromRoot, ...proof] : proof; // a full subtree's root is known
  if (first === undefined) return false;
  let [earlier, later] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isRight(node) || node === last) {
      [earlier, later] = [nodeHash(sibling, earlier), nodeHash(sibling, later)];
      while (!isRight(node) && node !== 0) [node, last] = [up(node), up(last)];
    } else {
      later = nodeHash(later, sibling);
    }
    [node, last] = [up(node), up(last)];
  }
  return last === 0 && isSameHash(earlier, fromRoot) && isSameHash(later, toRoot);
}

function areCounts(...values: readonly number[]): boolean {
  return values.every((value) => Number.isSafeInteger(value) && value >= 0);
}

function isRight(node: number): boolean {
  return node % 2 === 1;
}

function up(node: number): number {
  return Math.floor(node / 2);
}
