/** Known answers of the certificate transparency reference tests (RFC 6962 §2.1, unchanged in RFC 9162 §2.1). */
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

/** The eight entries of the reference tree, in hexadecimal. */
const ENTRIES = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
] as const;

const LEAVES: readonly Hash[] = ENTRIES.map((entry) => leafHash(Uint8Array.fromHex(entry)));

/** Root of the tree of the first n entries, n from 0. */
const ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
] as const;

const LEAF_0 = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
const LEAF_1 = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
const LEAF_4 = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
const LEAVES_0_1 = "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125";
const LEAVES_2_3 = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
const LEAVES_4_5 = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";
const LEAVES_6_7 = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
const LEAVES_0_3 = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7";
const LEAVES_4_7 = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";

const INCLUSION = [
  { index: 0, size: 1, proof: [] },
  { index: 0, size: 2, proof: [LEAF_1] },
  { index: 1, size: 2, proof: [LEAF_0] },
  { index: 2, size: 3, proof: [LEAVES_0_1] },
  { index: 1, size: 5, proof: [LEAF_0, LEAVES_2_3, LEAF_4] },
  { index: 0, size: 8, proof: [LEAF_1, LEAVES_2_3, LEAVES_4_7] },
  { index: 5, size: 8, proof: [LEAF_4, LEAVES_6_7, LEAVES_0_3] },
] as const;

const CONSISTENCY = [
  { from: 1, to: 1, proof: [] },
  { from: 1, to: 8, proof: [LEAF_1, LEAVES_2_3, LEAVES_4_7] },
  { from: 2, to: 5, proof: [LEAVES_2_3, LEAF_4] },
  { from: 6, to: 8, proof: [LEAVES_4_5, LEAVES_6_7, LEAVES_0_3] },
] as const;

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
