/** An evidence log that a test grows. */
import { assert, assertEquals } from "@std/assert";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { hashText, leafHash } from "../../../../src/base/merkle/tree.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import { growLog, type GrowLogDeps } from "../../../../src/platform/evidence/evidence_log/grow_log.ts";
import { openLogStore, stageLeaf } from "../../../../src/platform/evidence/evidence_log/log_store.ts";
import { missingOrForeign, readLogBooks, type StagedLeaf } from "testing/evidence_log.ts";
import { platformKeySet } from "testing/platform_keys.ts";

export const START = Date.UTC(2040, 0, 15, 12);
const ORIGIN = { issuer: "https://auth.platform.example", cell: "home" };

export interface Log extends AsyncDisposable {
  now: number;
  readonly store: Store;
  readonly deps: GrowLogDeps;
  /** Every staged leaf hash. */
  readonly staged: StagedLeaf[];
  /** Commits this many leaf hashes, each in a commit of its own, as records of this time. */
  stage(count: number, at?: number): Promise<void>;
  /** A second later: the number of leaf hashes that one pass has placed. */
  pass(): Promise<number>;
  /** Asserts that the log has or waits for exactly what was staged, and that its records agree. */
  assertWhole(waiting: number): Promise<void>;
}

export async function openLog(store: Store): Promise<Log> {
  const ring = await openKeyRing(await platformKeySet());
  const staged: StagedLeaf[] = [];
  const log: Log = {
    now: START,
    store,
    deps: { store, clock: () => log.now, log: openLogStore(store), origin: ORIGIN, signer: ring.signer },
    staged,
    async stage(count, at = log.now) {
      for (let made = 0; made < count; made++) {
        const leaf = leafHash(crypto.getRandomValues(new Uint8Array(16)));
        assert(await commitIfUnchanged(log.deps, (tx) => stageLeaf(tx, leaf, at)));
        staged.push({ leaf: hashText(leaf), at });
      }
    },
    async pass() {
      log.now += 1000;
      return await growLog(log.deps);
    },
    async assertWhole(waiting) {
      const books = await readLogBooks(store);
      assertEquals([...books.faults, ...missingOrForeign(books, staged)], []);
      assertEquals(books.waiting.length, waiting);
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
  return log;
}
