/** Hashes of a Merkle tree (RFC 9162 §2.1.1). A hash is 32 bytes, SHA-256. */
import { sha256 } from "@noble/hashes/sha2.js";

/** 32 bytes. */
export type Hash = Uint8Array<ArrayBuffer>;

const HASH_BYTES = 32;

/** Returns the hash of an entry: SHA-256(0x00 ‖ entry). */
export function leafHash(entry: Uint8Array): Hash {
  return hashOf(Uint8Array.of(0), entry);
}

/** Returns the hash of two neighbouring subtrees: SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Hash, right: Hash): Hash {
  return hashOf(Uint8Array.of(1), left, right);
}

/** Returns the root hash of the tree with these leaf hashes, or the hash of no bytes if there are none. */
export function treeHead(leaves: readonly Hash[]): Hash {
  const [first] = leaves;
  if (first === undefined) return hashOf();
  if (leaves.length === 1) return first;
  const split = splitOf(leaves.length);
  return nodeHash(treeHead(leaves.slice(0, split)), treeHead(leaves.slice(split)));
}

/** Returns the largest power of two that is smaller than `size`, which is at least 2: the size of the left subtree. */
export function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** Returns whether two hashes are equal. Hashes of a log are public, so the time that it takes may differ. */
export function isSameHash(left: Hash, right: Hash): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

/** Returns the hash that a text of 43 base64url characters stands for, or undefined. */
export function asHash(text: unknown): Hash | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url", lastChunkHandling: "loose" });
    return bytes.length === HASH_BYTES && hashText(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a hash as 43 base64url characters. */
export function hashText(hash: Uint8Array): string {
  return hash.toBase64({ alphabet: "base64url", omitPadding: true });
}

function hashOf(...parts: readonly Uint8Array[]): Hash {
  const hash = sha256.create();
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}
