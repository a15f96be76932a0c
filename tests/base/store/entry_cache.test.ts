/** The cache of entries: what it returns is what the database had at one moment of the call. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { openEntryCache } from "../../../src/base/store/entry_cache.ts";
import { type Commit, type Entry, type Key, StoreFailure } from "../../../src/base/store/store.ts";
import { seeded } from "../../../scripts/proofs/prove/random.ts";

const A: Key = ["kept", "a"];
const B: Key = ["kept", "b"];
const isKept = ([name]: Key): boolean => name === "kept";

/** A database in memory whose versions are numbers. */
function openDatabase(): {
  readonly read: (keys: readonly Key[]) => (Entry<unknown> | null)[];
  /** Undefined if a check fails. */
  readonly apply: (staged: Commit) => string | undefined;
  reads: number;
} {
  const entries = new Map<string, Entry<unknown>>();
  let version = 0;
  return {
    reads: 0,
    read(keys) {
      this.reads++;
      return keys.map((key) => entries.get(key.join()) ?? null);
    },
    apply({ checks, writes }) {
      if (checks.some(({ key, version }) => (entries.get(key.join())?.version ?? null) !== version)) return;
      version++;
      for (const write of writes) {
        const name = write.key.join();
        if (write.kind === "delete") entries.delete(name);
        else entries.set(name, { key: write.key, value: write.value, version: String(version) });
      }
      return String(version);
    },
  };
}

const set = (key: Key, value: unknown): Commit => ({ checks: [], writes: [{ kind: "set", key, value }] });

Deno.test("an entry that was read or written is not read again, and neither is one that does not exist", async () => {
  const [database, cache] = [openDatabase(), openEntryCache(isKept)];
  const read = (...keys: Key[]): Promise<readonly (Entry<unknown> | null)[]> =>
    cache.getMany(keys, (missing) => Promise.resolve(database.read(missing)));
  const write = (staged: Commit): Promise<boolean> =>
    cache.commit(staged, () => Promise.resolve(database.apply(staged)));
  assertEquals(await read(A, B), [null, null]);
  assertEquals(await read(B, A), [null, null]);
  assertEquals(database.reads, 1);
  assertEquals(await write(set(A, { n: 1 })), true);
  assertEquals(await read(A, B), [{ key: A, value: { n: 1 }, version: "1" }, null]);
  await write({ checks: [], writes: [{ kind: "delete", key: A }] });
  assertEquals(await read(A), [null]);
  assertEquals(database.reads, 1);
  assertEquals(await read(["other"], A), [null, null]);
  assertEquals(await read(["other"], A), [null, null]);
  assertEquals(database.reads, 3);
});

Deno.test("an entry that the database has deleted by itself fails one commit and is read again", async () => {
  const [database, cache] = [openDatabase(), openEntryCache(isKept)];
  const read = (): Promise<readonly (Entry<unknown> | null)[]> =>
    cache.getMany([A], (missing) => Promise.resolve(database.read(missing)));
  await cache.commit(set(A, 1), () => Promise.resolve(database.apply(set(A, 1))));
  database.apply({ checks: [], writes: [{ kind: "delete", key: A }] }); // expired
  const [stale] = await read();
  const staged = { checks: [{ key: A, version: stale?.version ?? null }], writes: [] };
  assertEquals(await cache.commit(staged, () => Promise.resolve(database.apply(staged))), false);
  assertEquals(await read(), [null]);
});

Deno.test("an entry is read again after commits that wrote it at the same time, and then kept", async () => {
  const [database, cache] = [openDatabase(), openEntryCache(isKept)];
  const read = async (): Promise<unknown> => {
    const [found] = await cache.getMany([A], (missing) => Promise.resolve(database.read(missing)));
    return [found?.value, database.reads];
  };
  const begun = [1, 2, 3].map((value) => {
    const applied = Promise.withResolvers<string | undefined>();
    const done = cache.commit(set(A, value), () => applied.promise);
    return async () => {
      applied.resolve(database.apply(set(A, value)));
      assertEquals(await done, true);
    };
  });
  for (const [index, end] of begun.entries()) {
    await end();
    assertEquals(await read(), [index + 1, index + 1], "nothing is kept while one is under way");
  }
  assertEquals(await read(), [3, 3]);
  await cache.commit(set(A, 4), () => Promise.resolve(database.apply(set(A, 4))));
  assertEquals(await read(), [4, 3], "a commit alone is kept");
});

Deno.test("a commit that failed leaves nothing of what it was to write", async () => {
  const [database, cache] = [openDatabase(), openEntryCache(isKept)];
  const failing = cache.commit(set(A, 1), () => Promise.reject(new StoreFailure("disk full")));
  await assertRejects(() => failing, StoreFailure);
  assertEquals(await cache.getMany([A], (keys) => Promise.resolve(database.read(keys))), [null]);
});

Deno.test("a reader cannot change what other readers get", async () => {
  const cache = openEntryCache(isKept);
  await cache.commit(set(A, { list: [1] }), () => Promise.resolve("1"));
  const [entry] = await cache.getMany([A], () => Promise.resolve([]));
  assertThrows(() => (entry?.value as { list: number[] }).list.push(2), TypeError);
});

Deno.test("entries have a bound together, and keys without an entry do not displace them", async () => {
  const cache = openEntryCache(isKept);
  const reads: string[] = [];
  const read = (name: string, characters?: number): Promise<unknown> =>
    cache.getMany([["kept", name]], ([key = []]) => {
      reads.push(name);
      return Promise.resolve([
        characters === undefined ? null : { key, value: { text: "x".repeat(characters) }, version: "1" },
      ]);
    });
  await read("small", 100);
  for (let number = 0; number < 2500; number++) await read(`absent ${number}`);
  await read("absent 2499");
  await read("small", 100);
  assertEquals(reads.length, 2501);
  await read("absent 0"); // displaced by later ones
  assertEquals(reads.length, 2502);
  for (let number = 0; number < 5; number++) await read(`large ${number}`, 1_000_000);
  await read("large 4", 1_000_000);
  assertEquals(reads.length, 2507);
  await read("small", 100); // displaced
  for (let again = 0; again < 2; again++) await read("too large", 5_000_000);
  assertEquals(reads.slice(2507), ["small", "too large", "too large"]);
});

/** Reads and commits side by side. The database answers and applies at moments that the seed decides. */
async function run(seed: number): Promise<number> {
  const random = seeded(seed, "entry cache");
  const [database, cache] = [openDatabase(), openEntryCache(isKept)];
  const keys: readonly Key[] = [A, B, ["kept", "c"], ["other"]];
  const states: (readonly unknown[])[] = [];
  const note = (): void => void states.push(database.read(keys).map((entry) => entry?.version ?? null));
  note();
  const pause = async (): Promise<void> => {
    for (let turns = random.below(6); turns > 0; turns--) await Promise.resolve();
  };
  async function reader(): Promise<void> {
    const wanted = keys.map((_, index) => index).filter(() => random.chance(0.6));
    const first = states.length - 1;
    const found = await cache.getMany(wanted.map((index) => keys[index] ?? []), async (missing) => {
      await pause();
      const entries = database.read(missing);
      await pause();
      return entries;
    });
    const versions = found.map((entry) => entry?.version ?? null);
    const matches = states.slice(first).some((state) =>
      wanted.every((index, at) => state[index] === versions[at])
    );
    assert(matches, `seed ${seed}: ${versions} of ${wanted} was never the state from ${first} on`);
  }
  async function writer(): Promise<void> {
    const written = keys.filter(() => random.chance(0.5));
    const staged: Commit = {
      checks: random.chance(0.3) ? [{ key: A, version: String(random.below(20)) }] : [],
      writes: written.map((key) =>
        random.chance(0.3) ? { kind: "delete", key } : { kind: "set", key, value: 1 }
      ),
    };
    await cache.commit(staged, async () => {
      await pause();
      const version = database.apply(staged);
      note();
      await pause();
      if (random.chance(0.1)) throw new StoreFailure("no answer");
      return version;
    }).catch((error) => assert(error instanceof StoreFailure));
  }
  const party = async (): Promise<void> => {
    for (let act = 0; act < 20; act++) {
      await pause();
      await (random.chance(0.6) ? reader() : writer());
    }
  };
  await Promise.all([party(), party(), party(), party()]);
  return states.length;
}

Deno.test("each read returns the state of one moment of the call, whatever commits run beside it", async () => {
  let commits = 0;
  for (let seed = 0; seed < 1000; seed++) commits += await run(seed);
  assert(commits > 10_000);
});
