import { assert, assertEquals } from "@std/assert";
import { compactVerify } from "jose";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { type Hash, leafHash } from "../../../../src/base/merkle/tree.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import { openSqliteStore } from "../../../../src/base/store/sqlite_store.ts";
import { storeCopyKey } from "../../../../src/base/store/copy_mark.ts";
import type { Entry, Store } from "../../../../src/base/store/store.ts";
import { check, commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import { growLog } from "../../../../src/platform/evidence/evidence_log/grow_log.ts";
import type { LogHead } from "../../../../src/platform/evidence/evidence_log/log_records.ts";
import { placeOf } from "../../../../src/platform/evidence/evidence_log/log_proofs.ts";
import {
  openLogStore,
  stageLeaf,
  stageLogEpoch,
} from "../../../../src/platform/evidence/evidence_log/log_store.ts";
import { readLogBooks } from "testing/evidence_log.ts";
import { testKey } from "testing/keys.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { openTestStore } from "testing/test_store.ts";
import { openRacedStore } from "support/processes.ts";
import { openLog, START } from "./grown_log.ts";

Deno.test("growLog gives each leaf one place, in batches, also one that was committed late with an earlier time [EV3]", async () => {
  await using log = await openLog(await openTestStore());
  assertEquals([await log.pass(), await log.deps.log.head()], [0, null]);
  await log.stage(3);
  assertEquals(await log.pass(), 3);
  await log.stage(1, START - 3_600_000);
  await log.stage(950);
  assertEquals(await log.pass(), 951); // two commits
  await log.assertWhole(0);
  assertEquals(await log.pass(), 0);
  for (let second = 0; second < 600; second++) await log.stage(1, START + second * 1000);
  assertEquals(await log.pass(), 600); // a commit of all would have 1,200 mutations
  await log.assertWhole(0);
});

Deno.test("a pass that places all waiting rows has read them once [EV3]", async () => {
  await using log = await openLog(await openTestStore());
  let reads = 0;
  const waiting: typeof log.deps.log.waiting = async (mutations) => {
    reads += 1;
    return await log.deps.log.waiting(mutations);
  };
  await log.stage(3);
  assertEquals(await growLog({ ...log.deps, log: { ...log.deps.log, waiting } }), 3);
  assertEquals(reads, 1);
});

Deno.test("as many waiting rows are placed as fit a commit with their seconds, and one in any case [EV3]", async () => {
  await using log = await openLog(await openTestStore());
  for (const second of [0, 1, 2]) await log.stage(1, START + second * 1000);
  const rowsFor = async (
    mutations: number,
  ): Promise<readonly [rows: number, leaves: number, areAll: boolean]> => {
    const { rows, leaves, areAll } = await log.deps.log.waiting(mutations);
    return [rows.length, leaves.length, areAll];
  };
  assertEquals(await rowsFor(1), [1, 1, false]);
  assertEquals(await rowsFor(3), [1, 1, false]);
  assertEquals(await rowsFor(4), [2, 2, false]);
  assertEquals(await rowsFor(5), [2, 2, false]);
  assertEquals(await rowsFor(6), [3, 3, true]);
});

Deno.test("the place of a leaf is found by the time of its entry, in every batch of its second and across tiles [EV3, EV7]", async () => {
  await using log = await openLog(await openTestStore());
  const later = START + 999;
  await log.stage(200, later);
  await log.pass();
  await log.stage(300, START); // two tiles, and 150 batches of one second
  await log.stage(1, START - 1);
  await log.pass();
  for (let batch = 0; batch < 150; batch++) {
    await log.stage(1, START);
    await log.pass();
  }
  await log.assertWhole(0);
  const { leaves } = await readLogBooks(log.store);
  const found = await Promise.all(
    log.staged.map(async ({ leaf, at }) => await placeOf(log.deps.log, hashIn(leaf), at)),
  );
  assertEquals(found, log.staged.map(({ leaf }) => leaves.indexOf(leaf)));
  for (const leaf of [leaves[199], leaves[201]]) { // on both sides of the only leaf of that second, in the same tile
    assertEquals(await placeOf(log.deps.log, hashIn(leaf ?? ""), START - 1), undefined);
  }
  const [first] = log.staged;
  assertEquals(await placeOf(log.deps.log, hashIn(first?.leaf ?? ""), START + 1000), undefined);
  assertEquals(await placeOf(log.deps.log, leafHash(Uint8Array.of(1)), START), undefined);
});

Deno.test("a leaf is staged with its effect or not at all, and two commits that stage leaves share no key [EV2]", async () => {
  await using log = await openLog(await openTestStore());
  const [first, second] = [leafHash(Uint8Array.of(1)), leafHash(Uint8Array.of(2))];
  await log.stage(1);
  const done = await commitIfUnchanged(log.deps, (tx) => {
    stageLeaf(tx, first, START);
    check(tx, ["log_waiting", String(START).padStart(15, "0"), log.staged[0]?.leaf ?? ""], null); // it exists
  });
  assertEquals([done, (await readLogBooks(log.store)).waiting], [false, log.staged.map(({ leaf }) => leaf)]);
  const keys: string[] = [];
  for (const leaf of [first, second]) {
    const committed = await commitIfUnchanged(log.deps, (tx) => {
      stageLeaf(tx, leaf, START);
      keys.push(...[...tx.checks, ...tx.writes].map(({ key }) => key.join("/")));
    });
    assert(committed);
  }
  assertEquals(new Set(keys).size, 2);
});

Deno.test("processes that grow the log at once, while leaves are staged, place each leaf once [EV3, M1]", async () => {
  const raced = await openRacedStore();
  await using log = await openLog(raced);
  for (let round = 0; round < 6; round++) {
    log.now += 1000;
    await Promise.all([log.stage(12), growLog(log.deps), growLog(log.deps), growLog(log.deps)]);
  }
  await log.pass();
  assert(raced.lost > 0, "no commit lost its race");
  await log.assertWhole(0);
});

Deno.test("leaves of commits that a file makes together share a row, wait in it, and get one place each [EV2, EV3]", async () => {
  for (const open of [openDenoKv, openSqliteStore]) {
    await using log = await openLog(await open(":memory:"));
    await Promise.all(Array.from({ length: 40 }, (_, n) => log.stage(1, START + n % 3 * 700)));
    const waiting = await log.deps.log.waiting(100);
    assertEquals([waiting.leaves.length, waiting.areAll], [40, true]);
    assert(waiting.rows.length < 20, `${waiting.rows.length} rows`);
    const some = await log.deps.log.waiting(1);
    assertEquals([some.rows.length, some.areAll], [1, false]);
    const awaited = log.staged.map(({ leaf, at }) => log.deps.log.isWaiting(hashIn(leaf), at));
    assertEquals(await Promise.all(awaited), Array(40).fill(true));
    assertEquals(await log.deps.log.isWaiting(leafHash(Uint8Array.of(1)), START), false);
    await log.assertWhole(40);
    assertEquals(await log.pass(), 40);
    await log.assertWhole(0);
  }
});

Deno.test("a clock that is put back stops no process from growing the log, and a head of this second waits [EV3]", async () => {
  await using log = await openLog(await openTestStore());
  await log.stage(1);
  await log.pass();
  await log.stage(1);
  assertEquals(await growLog(log.deps), 0);
  await log.assertWhole(1);
  log.now -= 86_400_000;
  assertEquals(await growLog(log.deps), 1);
  await log.assertWhole(0);
});

Deno.test("a leaf that another process places while this one reads gets one place [EV3]", async () => {
  await using log = await openLog(await openTestStore());
  await log.stage(2);
  log.now += 1000;
  const other = openLogStore(log.store);
  let raced = 0;
  const slow = {
    ...other,
    head: async () => {
      const head = await other.head();
      if (raced++ === 0) await growLog(log.deps); // between the two reads
      return head;
    },
    waiting: async (limit: number) => {
      const waiting = await other.waiting(limit);
      if (raced++ === 0) await growLog(log.deps);
      return waiting;
    },
  };
  await growLog({ ...log.deps, log: slow, clock: () => log.now + 1500 }); // its clock is ahead
  assert(raced > 0);
  await log.assertWhole(0);
});

Deno.test("growth that began before a restore is not committed to the copy, which lacks leaves that it has read [EV3, EV6]", async () => {
  await using log = await openLog(await openTestStore());
  await log.stage(1);
  await log.pass();
  await log.stage(1);
  const lost = await log.deps.log.waiting(1);
  const store: Store = {
    ...log.store,
    async commit(staged) { // the copy is older than the leaf that waits, and has the same head
      const value = { id: "copy", takenAt: START };
      const writes = [
        { kind: "delete", key: lost.rows[0] ?? [] },
        { kind: "set", key: storeCopyKey, value },
      ] as const;
      await log.store.commit({ checks: [], writes });
      log.staged.pop();
      return await log.store.commit(staged);
    },
  };
  log.now += 1000;
  assertEquals(await growLog({ ...log.deps, store }), 0);
  await log.assertWhole(0);
});

Deno.test("a checkpoint is signed by the key of the moment, and kept for each hour in which the log grew [EV4, EV5]", async () => {
  await using log = await openLog(await openTestStore());
  await log.stage(2);
  await log.pass();
  const first = (await log.deps.log.head())?.value.checkpoint ?? "";
  assertEquals(await claimsOf(first, 12), {
    iss: "https://auth.platform.example",
    cell: "home",
    iat: START / 1000 + 1,
    size: 2,
    root: (await readLogBooks(log.store)).checkpoint?.root,
  });
  const successor = await openKeyRing(await platformKeySet(14, 13));
  log.now += 3_600_000;
  assertEquals(await growLog({ ...log.deps, signer: successor.signer }), 0); // no leaf, but another key
  const second = (await log.deps.log.head())?.value.checkpoint ?? "";
  assertEquals((await claimsOf(second, 14))?.["size"], 2);
  const kept = await log.store.list<{ checkpoint: string }>({ prefix: ["log_checkpoint"], limit: 10 });
  assertEquals(kept.map(({ value }) => value.checkpoint), [first, second]);
});

Deno.test("a restore is declared for the head that was read, or not at all: leaves since then are not in the copy [EV6]", async () => {
  await using log = await openLog(await openTestStore());
  await log.stage(3);
  await log.pass();
  const declare = (head: Entry<LogHead> | null): Promise<boolean> =>
    commitIfUnchanged(log.deps, (tx) => {
      stageLogEpoch(tx, head, { id: "restore-1", startedAt: log.now, copyTakenAt: log.now });
    });
  const read = await log.deps.log.head();
  await log.stage(2);
  await log.pass();
  assertEquals(await declare(read), false);
  assertEquals(await declare(null), false);
  assertEquals((await log.deps.log.head())?.value.epoch, undefined);
  assertEquals(await declare(await log.deps.log.head()), true);
  assertEquals((await log.deps.log.head())?.value.epoch?.size, 5);
  await log.assertWhole(0);
});

Deno.test("a restore of a copy without a log is declared for no leaf, at its own time, and the log grows from there [EV6]", async () => {
  await using log = await openLog(await openTestStore());
  const epoch = { id: "restore-1", startedAt: log.now, copyTakenAt: log.now - 1000 };
  assertEquals(await commitIfUnchanged(log.deps, (tx) => stageLogEpoch(tx, null, epoch)), true);
  assertEquals((await log.deps.log.head())?.value, { size: 0, at: log.now, epoch: { ...epoch, size: 0 } });
  await log.stage(2);
  assertEquals(await log.pass(), 2);
  await log.assertWhole(0);
});

function hashIn(text: string): Hash {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

/** The claims of a checkpoint, whose signature this test key must have made. */
async function claimsOf(checkpoint: string, key: number): Promise<Readonly<Record<string, unknown>>> {
  const verified = await compactVerify(checkpoint, await (await testKey(key)).publicKey("verify"));
  assertEquals(verified.protectedHeader.typ, "evidence-log-checkpoint+jwt");
  return JSON.parse(new TextDecoder().decode(verified.payload)) as Readonly<Record<string, unknown>>;
}
