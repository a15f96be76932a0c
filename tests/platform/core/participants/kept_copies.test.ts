/**
 * Two processes keep copies of one document of the directory at the same time (Decision A9). Requests that wait for one
 * fetch of the directory: they keep no place in work from the request that fetches.
 */
import { assertEquals } from "@std/assert";
import { openLog } from "../../../../src/base/observability/log.ts";
import type { ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { ok } from "../../../../src/base/kernel/result.ts";
import type { Commit, Store } from "../../../../src/base/store/store.ts";
import { keepCopies } from "../../../../src/platform/core/participants/kept_copy_store.ts";
import { openTestStore } from "testing/test_store.ts";
import { openParticipantKeys } from "../../../../src/platform/core/participants/participant_keys.ts";
import { openEnvironment } from "testing/environment.ts";
import { pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";

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

Deno.test("a stored copy is renewed at once with another content or version, and after a minute with the same [A9]", async () => {
  const { store, copyAt } = await openRace();
  const keptAt = async (fetchedAt: number, value: string, version: number): Promise<unknown> => {
    await copyAt({}).keep({ value, fetchedAt, version });
    const kept = await copyAt({}).load();
    return [kept?.fetchedAt, kept?.value, kept?.version];
  };
  assertEquals(await keptAt(0, "one", 1), [0, "one", 1]);
  assertEquals(await keptAt(59_999, "one", 1), [0, "one", 1]);
  assertEquals(await keptAt(60_000, "one", 1), [60_000, "one", 1]);
  assertEquals(await keptAt(60_000, "one", 2), [60_000, "one", 2]);
  assertEquals(await keptAt(60_001, "other", 2), [60_001, "other", 2]);
  assertEquals(await keptAt(60_000, "older", 3), [60_001, "other", 2]);
  await store.close();
});

Deno.test("background work uses the stored keys of any age, unless the directory lists another version of them [A9]", async () => {
  const urls = {
    jwksUri: "https://directory.example/jwks",
    revokedJwksUri: "https://directory.example/revoked",
  };
  const stored = { active: ["stored"], revoked: [] };
  const fetched = { active: [urls.jwksUri], revoked: [urls.revokedJwksUri] };
  for (
    const [kept, listed, expected] of [
      [undefined, undefined, stored],
      [undefined, 3, fetched],
      [3, undefined, stored],
      [3, 3, stored],
      [3, 4, fetched],
      ["nothing", undefined, fetched],
    ] as const
  ) {
    const store = await openTestStore();
    const keep = keepCopies({ store, clock: Date.now, log });
    const copy = keep(`${urls.jwksUri} ${urls.revokedJwksUri}`, { ...FORM, write: () => stored });
    if (kept !== "nothing") await copy.keep({ value: "", fetchedAt: 0, version: kept });
    const keys = openParticipantKeys({
      fetchJson: (url) => Promise.resolve(ok({ keys: [url] })),
      ages: () => 10 * 86_400_000,
      keep,
      log,
      listed: () => listed === undefined ? undefined : { version: listed, standing: "active" },
    });
    assertEquals(
      await keys.published({ clientId: "shop" as ClientId, ...urls }),
      expected,
      `${kept} ${listed}`,
    );
    await store.close();
  }
});

const NAME = "https://directory.example/jwks";

Deno.test("a document is kept in pieces of 30,000 characters, eight in a commit, and a changed or lost piece is none [A9]", async () => {
  await using store = await openTestStore();
  const commits: (readonly unknown[])[] = [];
  const commit: Store["commit"] = (staged) => {
    commits.push(staged.writes.map((write) => [write.key[0], "value" in write ? write.value : undefined]));
    return store.commit(staged);
  };
  const copy = keepCopies({ store: { ...store, commit }, clock: Date.now, log })(NAME, FORM);
  const document = "x".repeat(8 * 30_000); // with its quotes nine pieces
  await copy.keep({ value: document, fetchedAt: 0, version: 1 });
  const piece = (text: string): unknown => ["kept_piece", text];
  assertEquals(commits.slice(0, 2), [
    [piece(`"${"x".repeat(29_999)}`), ...Array(7).fill(piece("x".repeat(30_000)))],
    [piece('x"')],
  ]);
  assertEquals(await copy.load(), { value: document, fetchedAt: 0, version: 1 });
  const [first] = await store.list<string>({ prefix: ["kept_piece"], limit: 1 });
  if (first === undefined) throw new Error("a piece");
  const changed = [
    { kind: "set", key: first.key, value: `"y${"x".repeat(29_998)}` },
    { kind: "delete", key: first.key },
  ] as const;
  for (const [minute, write] of changed.entries()) {
    await store.commit({ checks: [], writes: [write] });
    assertEquals(await copy.load(), undefined, write.kind);
    commits.length = 0;
    await copy.keep({ value: document, fetchedAt: 60_000 * (minute + 1), version: 1 });
    assertEquals(commits.length, write.kind === "delete" ? 3 : 1);
  }
  assertEquals((await copy.load())?.fetchedAt, 120_000, "the missing piece is written again");
});

Deno.test("a process leaves the pieces alone of a document that another one keeps behind its own [A9]", async () => {
  await using store = await openTestStore();
  const keep = (changed: Partial<Store> = {}) =>
    keepCopies({ store: { ...store, ...changed }, clock: Date.now, log })(NAME, FORM);
  await keep().keep({ value: "oldest", fetchedAt: 1, version: 1 });
  let heads = 0;
  const get: Store["get"] = async (key) => {
    if (key[0] === "kept_copy" && ++heads === 2) {
      await keep().keep({ value: "newer", fetchedAt: 20, version: 3 });
    }
    return await store.get(key);
  };
  await keep({ get }).keep({ value: "older", fetchedAt: 10, version: 2 });
  assertEquals([heads, (await keep().load())?.value], [2, "newer"]);
  assertEquals(
    (await store.list({ prefix: ["kept_piece"], limit: 9 })).length,
    1,
    "and the former ones are gone",
  );
});

Deno.test("a copy that cannot be kept is logged, and its user goes on [A9]", async () => {
  await using store = await openTestStore();
  const logged: Record<string, unknown>[] = [];
  const sink = (line: string): void => void logged.push(JSON.parse(line) as typeof logged[0]);
  const warns = openLog({ clock: () => 0, sink, level: "warn" });
  const commit = (): Promise<boolean> => Promise.reject(new Error("full"));
  const copy = keepCopies({ store: { ...store, commit }, clock: Date.now, log: warns })(NAME, FORM);
  await copy.keep({ value: "one", fetchedAt: 0, version: 1 });
  const told = logged.map(({ event, level, name, error }) => [event, level, name, error]);
  assertEquals(told, [["participants.copy_not_kept", "warn", NAME, "Error: full"]]);
});

/** More than there are places for participants. */
const REQUESTS = 40;
const PATIENCE_MS = 20_000;

Deno.test("more requests than places wait for one fetch of a key set, and all go on", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_REQUESTS_IN_WORK: "8" } });
  const flow = await authorised(env);
  env.now += 301_000; // every copy is old
  const directory = env.network;
  const gate = Promise.withResolvers<void>();
  env.network = async (request) => {
    await gate.promise;
    return await directory(request);
  };
  const asked = env.fetched.length;
  const requests = Array.from({ length: REQUESTS }, async () => {
    const response = await pay(env, flow); // payments may take every place
    await response.body?.cancel();
    return response.status;
  });
  const settled = Promise.all(requests);
  while (env.fetched.length === asked) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done, 200)); // the others have come as far as they can
  gate.resolve();
  const late = Promise.withResolvers<readonly number[]>();
  const timer = setTimeout(() => late.resolve([]), PATIENCE_MS);
  assertEquals((await Promise.race([settled, late.promise])).toSorted(), [
    201,
    ...Array(REQUESTS - 1).fill(400),
  ]);
  clearTimeout(timer);
});
