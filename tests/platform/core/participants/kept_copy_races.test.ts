/** Two processes keep copies of one document of the directory at the same time (Decision A9). */
import { assertEquals } from "@std/assert";
import { openLog } from "../../../../src/base/observability/log.ts";
import { ok } from "../../../../src/base/kernel/result.ts";
import type { Commit, Store } from "../../../../src/base/store/store.ts";
import { keepCopies } from "../../../../src/platform/core/participants/kept_copy_store.ts";
import { openTestStore } from "testing/test_store.ts";

const FORM = {
  write: (value: string): unknown => value,
  read: (document: unknown) => Promise.resolve(ok(String(document))),
};
const log = openLog({ clock: () => 0, sink: () => {}, level: "error" });

/** A store, and a process that keeps "newer" there and waits for `go` when its pieces are written and its head is not. */
async function openRace() {
  const store = await openTestStore();
  const copyAt = (changed: Partial<Store>) =>
    keepCopies({ store: { ...store, ...changed }, clock: Date.now, log })(
      "https://directory.example/jwks",
      FORM,
    );
  const [hasPieces, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const newer = copyAt({
    async commit(staged: Commit) {
      if (staged.writes.some(({ key }) => key[0] === "kept_copy")) {
        hasPieces.resolve();
        await mayGoOn.promise;
      }
      return await store.commit(staged);
    },
  });
  let keeping: Promise<void> | undefined;
  /** Lists as another process does that meets the pieces of "newer". */
  const list: Store["list"] = async (selection) => {
    keeping ??= newer.keep({ value: "newer", fetchedAt: 20, version: 2 });
    await hasPieces.promise;
    return await store.list(selection);
  };
  const finishNewer = async (): Promise<void> => {
    mayGoOn.resolve();
    await keeping;
  };
  return { store, copyAt, newer, list, finishNewer };
}

Deno.test("a process removes no pieces of the newer document that another one keeps meanwhile [A9]", async () => {
  const { store, copyAt, list, finishNewer } = await openRace();
  const older = copyAt({
    list,
    async commit(staged: Commit) {
      if (staged.writes.some(({ kind }) => kind === "delete")) await finishNewer();
      return await store.commit(staged);
    },
  });
  await older.keep({ value: "older", fetchedAt: 10, version: 1 });
  assertEquals((await copyAt({}).load())?.value, "newer");
  await store.close();
});

Deno.test("a process whose pieces were removed before its head keeps no copy then, and a whole one later [A9]", async () => {
  const { store, copyAt, newer, list, finishNewer } = await openRace();
  await copyAt({ list }).keep({ value: "older", fetchedAt: 10, version: 1 });
  await finishNewer();
  assertEquals((await copyAt({}).load())?.value, "older");
  await newer.keep({ value: "newer", fetchedAt: 30, version: 2 });
  assertEquals((await copyAt({}).load())?.value, "newer");
  await store.close();
});
