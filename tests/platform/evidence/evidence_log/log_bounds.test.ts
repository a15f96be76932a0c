/**
 * The borders of the evidence log: of its proofs, of a pass and of a commit [EV3, EV7]. The smallest size that
 * checkpoints of later hours sign, by which a case's age is judged (contract EN15).
 */
import { assert, assertEquals } from "@std/assert";
import { consistencyPath, inclusionPath, type LeafRange } from "../../../../src/base/merkle/proofs.ts";
import { type Hash, hashText, leafHash, treeHead } from "../../../../src/base/merkle/tree.ts";
import { logWaitingRecord } from "../../../../src/base/store/base_records.ts";
import type { Commit, Store, Write } from "../../../../src/base/store/store.ts";
import { logCheckpointKey, logWaitingKey } from "../../../../src/platform/config/store_keys.ts";
import { growLog } from "../../../../src/platform/evidence/evidence_log/grow_log.ts";
import { viewLog } from "../../../../src/platform/evidence/evidence_log/log_proofs.ts";
import { openTestStore } from "testing/test_store.ts";
import { type Log, openLog, START } from "./grown_log.ts";
import { logCheckpointRecord } from "../../../../src/platform/evidence/evidence_log/log_records.ts";
import { openLogStore } from "../../../../src/platform/evidence/evidence_log/log_store.ts";

const bytesOf = (leaf: string): Hash => Uint8Array.fromBase64(leaf, { alphabet: "base64url" });

Deno.test("a view proves each leaf of its checkpoint and each pair of its trees, and no other, while the log grows", async () => {
  await using log = await openLog(await openTestStore());
  assertEquals(await viewLog(log.deps.log), null);
  await log.stage(5);
  await log.pass();
  const view = await viewLog(log.deps.log);
  if (view === null) throw new Error("the log has a checkpoint");
  await log.stage(1, START + 5000);
  await log.pass();
  await log.stage(1, START + 5000);
  const hashes = (await log.deps.log.tiles([{ level: 0, index: 0 }]))[0] ?? [];
  const headsOf = (path: readonly LeafRange[]): readonly string[] =>
    path.map(({ start, end }) => hashText(treeHead(hashes.slice(start, end))));
  const known = [view.size, view.checkpoint === (await log.deps.log.head())?.value.checkpoint];
  assertEquals(known, [5, false]);
  const found = await Promise.all(log.staged.map(async ({ leaf, at }) => {
    const inclusion = await view.inclusion(bytesOf(leaf), at);
    const awaited = await view.isAwaited(bytesOf(leaf), at);
    return [awaited, inclusion && [inclusion.index, inclusion.proof.map(hashText)]];
  }));
  const placed = log.staged.slice(0, 5).map(({ leaf }) => {
    const index = hashes.map(hashText).indexOf(leaf);
    return [false, [index, headsOf(inclusionPath(index, 5))]];
  });
  assertEquals(found, [...placed, [true, undefined], [true, undefined]]);
  const foreign = leafHash(Uint8Array.of(7));
  const ofForeign = [await view.isAwaited(foreign, START), await view.inclusion(foreign, START)];
  assertEquals(ofForeign, [false, undefined]);
  for (let from = 0; from <= 7; from++) {
    for (let to = 0; to <= 7; to++) {
      const expected = 1 <= from && from <= to && to <= 5 ? headsOf(consistencyPath(from, to)) : undefined;
      assertEquals((await view.consistency(from, to))?.map(hashText), expected, `${from} to ${to}`);
    }
  }
});

Deno.test("a head that is younger than 900 ms waits, and one of a clock that was put back does not", async () => {
  for (const [ageMs, placed] of [[-1, 1], [0, 0], [899, 0], [900, 1]] as const) {
    await using log = await openLog(await openTestStore());
    await log.stage(1);
    await log.pass();
    await log.stage(1);
    log.now += ageMs;
    assertEquals(await growLog(log.deps), placed, `${ageMs} ms`);
  }
});

/** A log whose commits are seen, and whose batches have at most so many mutations of rows and ranges. */
async function watched(most = Infinity): Promise<{ readonly log: Log; readonly commits: Commit[] }> {
  const commits: Commit[] = [];
  const kv = await openTestStore();
  const store: Store = {
    ...kv,
    commit(staged) {
      commits.push(staged);
      return kv.commit(staged);
    },
  };
  const log = await openLog(store);
  const { waiting } = log.deps.log;
  Object.assign(log.deps.log, { waiting: (mutations: number) => waiting(Math.min(most, mutations)) });
  return { log, commits };
}

Deno.test("a pass makes 20 commits at most, and the next one goes on", async () => {
  const { log, commits } = await watched(2); // a row and its second
  for (let second = 0; second < 22; second++) await log.stage(1, START + second * 1000);
  log.now += 3_600_000;
  commits.length = 0;
  assertEquals([await log.pass(), commits.length], [20, 20]);
  assertEquals([await log.pass(), commits.length], [2, 22]);
  await log.assertWhole(0);
  await log.store.close();
});

Deno.test("a commit of the log has 900 rows and ranges and few other mutations, which Deno KV takes", async () => {
  const { log, commits } = await watched();
  for (let second = 0; second < 451; second++) await log.stage(1, START + second * 1000);
  log.now += 3_600_000;
  commits.length = 0;
  assertEquals(await log.pass(), 451);
  const sizes = commits.map(({ writes }) => {
    const ofRows = writes.filter(({ key }) => key[0] === "log_waiting" || key[0] === "log_range").length;
    return [ofRows, writes.length - ofRows];
  });
  assertEquals(sizes, [[900, 5], [2, 3]]);
  await log.store.close();
});

/** Writes rows of so many leaves each, as a file does that makes commits together. */
async function writeRows(store: Store, sizes: readonly number[]): Promise<void> {
  for (const [second, size] of sizes.entries()) {
    const at = START + second * 1000;
    const leaves = Array.from({ length: size }, (_, number) => ({
      at,
      leaf: hashText(leafHash(Uint8Array.of(second, number >> 8, number & 255))),
    }));
    const writes: Write[] = [];
    logWaitingRecord.set({ writes }, logWaitingKey(at, leaves[0]?.leaf ?? ""), { leaves });
    assert(await store.commit({ checks: [], writes }));
  }
}

Deno.test("up to 2,048 leaves get places at once, more only if they are one row's", async () => {
  const cases: readonly (readonly [rows: readonly number[], taken: readonly number[]])[] = [
    [[700, 700, 648, 1], [3, 2048]],
    [[700, 700, 648], [3, 2048]],
    [[700, 700, 649], [2, 1400]],
    [[1], [1, 1]],
  ];
  for (const [rows, expected] of cases) {
    const { log } = await watched();
    await writeRows(log.store, rows);
    const found = await log.deps.log.waiting(900);
    assertEquals([found.rows.length, found.leaves.length], expected);
    assertEquals(found.areAll, expected[0] === rows.length);
    const times = found.leaves.map(({ at }) => at);
    assertEquals(times, times.toSorted());
    await log.store.close();
  }
});

const HOUR_MS = 3_600_000;

Deno.test("the cases of a pass read the checkpoints of years once, and a new hour reads them again [EN15]", async () => {
  await using store = await openTestStore();
  const writes: Write[] = [];
  for (const [hour, size] of [[1, 10], [2, 20], [3, 15], [4, 40]] as const) {
    const checkpoint = `e30.${btoa(JSON.stringify({ size })).replaceAll("=", "")}.c2ln`;
    logCheckpointRecord.set({ writes }, logCheckpointKey(hour * HOUR_MS), { checkpoint });
  }
  await store.commit({ checks: [], writes });
  let lists = 0;
  const log = openLogStore({
    ...store,
    list(selection) {
      lists++;
      return store.list(selection);
    },
  });
  const at = [1, HOUR_MS + 1, HOUR_MS + 2, 2 * HOUR_MS - 1, 3 * HOUR_MS, 9 * HOUR_MS, 9 * HOUR_MS];
  const sizes: number[] = [];
  for (const time of at) sizes.push(await log.smallestSizeAfter(time));
  assertEquals(sizes, [10, 15, 15, 15, 40, Infinity, Infinity]);
  assertEquals(lists, 5, "two of them have found none, which may change");
});
