import { assertEquals, assertRejects } from "@std/assert";
import { consistencyPath, hashesOf, inclusionPath, rangeHash } from "../../../../src/base/merkle/proofs.ts";
import { type Hash, leafHash, treeHead } from "../../../../src/base/merkle/tree.ts";
import { provesConsistency, provesInclusion } from "../../../../src/base/merkle/verify.ts";
import {
  appendLeaves,
  type Edge,
  edgeOf,
  nodesOf,
  rootOf,
  TILE,
} from "../../../../src/platform/evidence/evidence_log/tiles.ts";

const LEAVES = Array.from({ length: 800 }, (_, at) => leafHash(new TextEncoder().encode(String(at))));

/** A log in memory, grown by these numbers of leaves. */
function grown(steps: readonly number[]): { size: number; edge: Edge; tiles: Map<string, readonly Hash[]> } {
  const log = { size: 0, edge: [] as Edge, tiles: new Map<string, readonly Hash[]>() };
  for (const step of steps) {
    const { tiles, edge } = appendLeaves(log.size, log.edge, LEAVES.slice(log.size, log.size + step));
    for (const { level, index, hashes } of tiles) log.tiles.set(`${level}/${index}`, hashes);
    log.size += step;
    log.edge = edge;
  }
  return log;
}

Deno.test("a tree that grows in steps has the root of its leaves, and tiles from which its edge can be read [EV1]", () => {
  for (const steps of [[1], [255, 1], [256], [257], [300, 300], [1, 511, 1, 0, 256], [800]]) {
    const { size, edge, tiles } = grown(steps);
    assertEquals(rootOf(edge), treeHead(LEAVES.slice(0, size)), steps.join("+"));
    const read = edgeOf(size).map((place) => place && tiles.get(`${place.level}/${place.index}`) || []);
    assertEquals(read, [...edge], steps.join("+"));
  }
  assertEquals(rootOf([]), treeHead([]));
});

Deno.test("proofs that are read from tiles hold for sizes on both sides of full tiles [EV1]", async () => {
  const { tiles } = grown([200, 60, 540]);
  const nodes = nodesOf(({ level, index }) => Promise.resolve(tiles.get(`${level}/${index}`) ?? []));
  for (const size of [1, TILE - 1, TILE, TILE + 1, 511, 512, 513, 800]) {
    const root = treeHead(LEAVES.slice(0, size));
    assertEquals(await rangeHash({ start: 0, end: size }, nodes), root);
    for (const index of [0, Math.floor(size / 2), size - 1]) {
      const proof = await hashesOf(inclusionPath(index, size), nodes);
      const leaf = LEAVES[index] ?? root;
      assertEquals(provesInclusion({ leaf, index, size, root, proof }), true, `${index} of ${size}`);
    }
    for (const from of [1, Math.ceil(size / 2), size]) {
      const proof = await hashesOf(consistencyPath(from, size), nodes);
      const fromRoot = treeHead(LEAVES.slice(0, from));
      const holds = provesConsistency({ from, to: size, fromRoot, toRoot: root, proof });
      assertEquals(holds, true, `${from} to ${size}`);
    }
  }
  await assertRejects(() => nodes(0, 800), Error, "tile 0/3 of the evidence log is incomplete");
});
