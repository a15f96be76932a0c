import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  consistencyPath,
  hashesOf,
  inclusionPath,
  rangeHash,
  type ReadNode,
} from "../../../src/base/merkle/proofs.ts";
import { asHash, type Hash, hashText, leafHash, treeHead } from "../../../src/base/merkle/tree.ts";
import {
  type ConsistencyClaim,
  type InclusionClaim,
  provesConsistency,
  provesInclusion,
} from "../../../src/base/merkle/verify.ts";
import { CONSISTENCY, INCLUSION, LEAVES, ROOTS } from "./reference.ts";

/** Larger than 2 ** 4, so that every shape of a right edge occurs. */
const MANY = Array.from({ length: 21 }, (_, at) => leafHash(Uint8Array.of(at)));

function nodesOf(leaves: readonly Hash[]): ReadNode {
  return (level, index) =>
    Promise.resolve(treeHead(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)));
}

function hex(hashes: readonly Hash[]): readonly string[] {
  return hashes.map((hash) => hash.toHex());
}

/** A copy with one bit of one byte changed. */
function changed(hash: Hash, at = 0): Hash {
  return hash.map((byte, position) => position === at ? byte ^ 1 : byte);
}

Deno.test("treeHead, inclusion and consistency proofs are those of the published reference tests [EV1]", async () => {
  for (const [size, root] of ROOTS.entries()) assertEquals(treeHead(LEAVES.slice(0, size)).toHex(), root);
  for (const { index, size, proof } of INCLUSION) {
    assertEquals(hex(await hashesOf(inclusionPath(index, size), nodesOf(LEAVES))), [...proof]);
  }
  for (const { from, to, proof } of CONSISTENCY) {
    assertEquals(hex(await hashesOf(consistencyPath(from, to), nodesOf(LEAVES))), [...proof]);
  }
});

Deno.test("provesInclusion accepts the proof of every leaf of every size, and no changed one [EV1]", async () => {
  for (let size = 1; size <= MANY.length; size++) {
    const root = treeHead(MANY.slice(0, size));
    assertEquals(await rangeHash({ start: 0, end: size }, nodesOf(MANY)), root);
    for (let index = 0; index < size; index++) {
      const leaf = MANY[index] ?? root;
      const proof = await hashesOf(inclusionPath(index, size), nodesOf(MANY));
      const claim: InclusionClaim = { leaf, index, size, root, proof };
      assert(provesInclusion(claim), `${index} of ${size}`);
      for (const other of falseInclusions(claim)) assertFalse(provesInclusion(other), `${index} of ${size}`);
    }
  }
});

Deno.test("provesConsistency accepts the proof of every pair of sizes, and no changed one [EV1]", async () => {
  for (let to = 1; to <= MANY.length; to++) {
    for (let from = 1; from <= to; from++) {
      const [fromRoot, toRoot] = [treeHead(MANY.slice(0, from)), treeHead(MANY.slice(0, to))];
      const proof = await hashesOf(consistencyPath(from, to), nodesOf(MANY));
      const claim: ConsistencyClaim = { from, to, fromRoot, toRoot, proof };
      assert(provesConsistency(claim), `${from} to ${to}`);
      for (const other of falseConsistencies(claim)) {
        assertFalse(provesConsistency(other), `${from} to ${to}`);
      }
    }
  }
});

Deno.test("paths of a leaf or a tree that does not exist are errors [EV1]", () => {
  for (const [index, size] of [[0, 0], [1, 1], [-1, 2], [0.5, 2]] as const) {
    assertThrows(() => inclusionPath(index, size), RangeError);
  }
  for (const [from, to] of [[0, 0], [0, 3], [4, 3], [1.5, 3]] as const) {
    assertThrows(() => consistencyPath(from, to), RangeError);
  }
});

Deno.test("asHash reads 32 bytes in canonical base64url alone [EV1]", () => {
  const hash = leafHash(new Uint8Array());
  const text = hashText(hash);
  assertEquals(asHash(text), hash);
  const last = String.fromCharCode(text.charCodeAt(42) + 1); // the same bytes, if its spare bits were ignored
  for (const bad of [`${text}=`, text.slice(1), ` ${text}`, text.slice(0, -1) + last, "", 7, undefined]) {
    assertEquals(asHash(bad), undefined);
  }
});

function falseInclusions(claim: InclusionClaim): readonly InclusionClaim[] {
  const { leaf, index, size, root, proof } = claim;
  return [
    { ...claim, leaf: changed(leaf) },
    { ...claim, root: changed(root, 31) },
    { ...claim, index: index + 1 },
    { ...claim, index: -1 },
    { ...claim, index: size },
    { ...claim, size: 0 },
    { ...claim, proof: [...proof, root] },
    ...proof.map((_, at) => ({ ...claim, proof: proof.with(at, changed(proof[at] ?? root)) })),
    ...proof.map((_, at) => ({ ...claim, proof: proof.toSpliced(at, 1) })),
  ];
}

function falseConsistencies(claim: ConsistencyClaim): readonly ConsistencyClaim[] {
  const { from, to, fromRoot, toRoot, proof } = claim;
  return [
    { ...claim, fromRoot: changed(fromRoot) },
    { ...claim, toRoot: changed(toRoot) },
    { ...claim, from: 0 },
    { ...claim, from: to + 1 },
    ...(from === to ? [] : [{ ...claim, to: from }, { ...claim, from: to }]),
    { ...claim, proof: [...proof, toRoot] },
    ...proof.map((_, at) => ({ ...claim, proof: proof.with(at, changed(proof[at] ?? toRoot)) })),
    ...proof.map((_, at) => ({ ...claim, proof: proof.toSpliced(at, 1) })),
  ];
}
