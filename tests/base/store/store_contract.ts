/**
 * Requirements for every implementation of `src/base/store/store.ts`. Each implementation has a test file that runs
 * them, so another database needs only another file of five lines.
 */
import { assertEquals, assertNotEquals } from "@std/assert";
import { firstOfGroups, type GroupListing } from "../../../src/base/store/first_of_groups.ts";
import type { Key, Store, Write } from "../../../src/base/store/store.ts";
import { present, put, values, write } from "./contract_helpers.ts";
import { testRaces } from "./store_races.ts";

/** An implementation under test. */
export interface StoreUnderTest {
  readonly name: string;
  /** A fresh, empty store. */
  open(): Promise<Store>;
}

/** Registers the whole contract as tests of this implementation. */
export function testStore(subject: StoreUnderTest): void {
  const test = (promise: string, body: (store: Store) => Promise<void>): void =>
    Deno.test(`${subject.name} ${promise}`, async () => {
      const store = await subject.open();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });
  testReading(test);
  testListing(test);
  testCommitting(test);
  testRaces(test);
  testValues(test);
}

export type Register = (promise: string, body: (store: Store) => Promise<void>) => void;

function testReading(test: Register): void {
  test("get gives null for what was never written", async (store) => {
    assertEquals(await store.get(["nothing"]), null);
  });

  test("get gives key, value and a version", async (store) => {
    await write(store, put(["a", "b"], { n: 1 }));
    const entry = await store.get(["a", "b"]);
    assertEquals([entry?.key, entry?.value, typeof entry?.version], [["a", "b"], { n: 1 }, "string"]);
    assertEquals(await store.get(["a"]), null);
    assertEquals(await store.get(["a", "b", "c"]), null);
  });

  test("get gives a new version after every write of the key, the same value included", async (store) => {
    const versions = new Set<string | undefined>();
    for (let round = 0; round < 3; round++) {
      await write(store, put(["a"], 1));
      versions.add((await store.get(["a"]))?.version);
    }
    assertEquals(versions.size, 3);
  });

  test("get keeps apart keys that would look alike when joined", async (store) => {
    const keys = ["a|b", "a/b", "a|b|", "|a|b", "ab", "a\u0000b", "A|b", "a|b\u0000"].map((key) =>
      key.split("|")
    );
    await write(store, ...keys.map((key, index) => put(key, index)));
    assertEquals(values(await store.getMany(keys)), keys.map((_, index) => index));
  });

  test("getMany answers in the order asked, with null for what is not there, beyond ten keys", async (store) => {
    const keys = Array.from({ length: 25 }, (_, index) => ["k", String(index)]);
    await write(store, ...keys.filter((_, index) => index % 3 !== 0).map((key) => put(key, key[1])));
    const expected = keys.map((key, index) => index % 3 === 0 ? undefined : key[1]);
    assertEquals(values(await store.getMany(keys)), expected);
    assertEquals(values(await store.getMany(keys.toReversed())), expected.toReversed());
    assertEquals(values(await store.getMany([["k", "1"], ["k", "1"]])), ["1", "1"]);
  });

  test("getMany of no keys is empty", async (store) => {
    assertEquals(await store.getMany([]), []);
  });
}

function testListing(test: Register): void {
  test("list gives the first entries of each group, and passes over the rest", async (store) => {
    const keys: Key[] = [["g", "0"]];
    for (const group of ["a", "a b", "aa", "b", "z"]) {
      for (let n = 0; n < (group === "b" ? 2 : 7); n++) keys.push(["g", group, String(n), "x"]);
    }
    await write(store, ...[...keys, ["g0", "a", "0", "x"], ["h"]].map((key) => put(key, 1)));
    const found = async (more: Partial<GroupListing>): Promise<readonly [string, boolean]> => {
      const { entries, isComplete } = await firstOfGroups(store, {
        prefix: ["g"],
        parts: 1,
        perGroup: 2,
        maxGroups: 100,
        ...more,
      });
      return [entries.map(({ key }) => key.slice(1, 3).join("")).join(" "), isComplete];
    };
    assertEquals(await found({}), ["0 a0 a1 a b0 a b1 aa0 aa1 b0 b1 z0 z1", false]);
    assertEquals(await found({ isWanted: ([, group]) => group === "b" }), ["b0 b1", true]);
    assertEquals(await found({ perGroup: 7, parts: 1, isWanted: ([, group]) => group === "z" }), [
      "z0 z1 z2 z3 z4 z5 z6",
      true,
    ]);
    assertEquals(await found({ maxGroups: 2 }), ["0 a0 a1", false]);
    assertEquals(await found({ maxGroups: 2, isWanted: ([, group]) => group === "b" }), ["b0 b1", true]);
    assertEquals(await found({ parts: 0 }), ["0 a0", false]);
  });
  test("list gives key order, whatever the order of writing", async (store) => {
    const names = ["b", "a", "c", "aa", "B", "\u00e9", "10", "9", "a\u0000"];
    for (const name of names) await write(store, put(["p", name], name));
    const listed = await store.list<string>({ prefix: ["p"], limit: 100 });
    assertEquals(values(listed), ["10", "9", "B", "a", "a\u0000", "aa", "b", "c", "\u00e9"]);
    assertEquals(listed.map(({ key }) => key[1]), values(listed));
  });

  test("list stays below its prefix, part by part", async (store) => {
    const keys = [["p"], ["p", "a"], ["p", "a", "x"], ["p", "b"], ["pp", "a"], ["p\u0000", "a"], ["o", "a"], [
      "q",
    ]];
    await write(store, ...keys.map((key) => put(key, key.join("."))));
    assertEquals(values(await store.list({ prefix: ["p"], limit: 100 })), ["p.a", "p.a.x", "p.b"]);
    assertEquals(values(await store.list({ prefix: ["p", "a"], limit: 100 })), ["p.a.x"]);
    assertEquals(await store.list({ prefix: ["nothing"], limit: 100 }), []);
  });

  test("list goes on after a key, present or not, and never repeats it", async (store) => {
    await write(store, ...["a", "b", "b\u0000", "ba", "c"].map((name) => put(["p", name], name)));
    const after = async (name: string): Promise<unknown[]> =>
      values(await store.list({ prefix: ["p"], after: ["p", name], limit: 100 }));
    assertEquals(await after("a"), ["b", "b\u0000", "ba", "c"]);
    assertEquals(await after("b"), ["b\u0000", "ba", "c"]);
    assertEquals(await after("aa"), ["b", "b\u0000", "ba", "c"]);
    assertEquals(await after("c"), []);
    assertEquals(await after("zzz"), []);
  });

  test("list after a key goes on with the keys below it", async (store) => {
    await write(store, put(["p", "a"], "a"), put(["p", "a", "x"], "a.x"), put(["p", "b"], "b"));
    assertEquals(values(await store.list({ prefix: ["p"], after: ["p", "a"], limit: 100 })), ["a.x", "b"]);
  });

  test("list stops at its limit, and pages give everything once", async (store) => {
    const names = Array.from({ length: 250 }, (_, index) => String(index).padStart(4, "0"));
    await write(store, ...names.map((name) => put(["p", name], name)));
    assertEquals(values(await store.list({ prefix: ["p"], limit: 1 })), ["0000"]);
    assertEquals(values(await store.list({ prefix: ["p"], limit: 1000 })), names);
    const seen: unknown[] = [];
    let after: Key | undefined;
    for (;;) {
      const page = await store.list({ prefix: ["p"], limit: 37, ...(after === undefined ? {} : { after }) });
      if (page.length === 0) break;
      seen.push(...values(page));
      after = page.at(-1)?.key;
    }
    assertEquals(seen, names);
  });
}

function testCommitting(test: Register): void {
  test("commit writes and deletes together", async (store) => {
    await write(store, put(["old"], 1));
    assertEquals(await write(store, { kind: "delete", key: ["old"] }, put(["new"], 2)), true);
    assertEquals(values(await store.getMany([["old"], ["new"]])), [undefined, 2]);
  });

  test("commit deletes what is not there without a word", async (store) => {
    assertEquals(await write(store, { kind: "delete", key: ["nothing"] }), true);
  });

  test("commit with a check for null holds only while the key does not exist", async (store) => {
    const create = (): Promise<boolean> =>
      store.commit({ checks: [{ key: ["a"], version: null }], writes: [put(["a"], "first")] });
    assertEquals(await create(), true);
    assertEquals(await create(), false);
    await write(store, { kind: "delete", key: ["a"] });
    assertEquals(await create(), true);
  });

  test("commit with a check for a version holds only while the entry is unchanged", async (store) => {
    await write(store, put(["a"], 0));
    const { version } = present(await store.get(["a"]));
    const change = (value: number): Promise<boolean> =>
      store.commit({ checks: [{ key: ["a"], version }], writes: [put(["a"], value)] });
    assertEquals(await change(1), true);
    assertEquals(await change(2), false);
    assertEquals((await store.get(["a"]))?.value, 1);
    assertNotEquals((await store.get(["a"]))?.version, version);
  });

  test("commit with a version of a deleted entry fails, also when the key was written again", async (store) => {
    await write(store, put(["a"], 0));
    const checks = [{ key: ["a"], version: present(await store.get(["a"])).version }];
    await write(store, { kind: "delete", key: ["a"] });
    assertEquals(await store.commit({ checks, writes: [put(["b"], 1)] }), false);
    await write(store, put(["a"], 0));
    assertEquals(await store.commit({ checks, writes: [put(["b"], 1)] }), false);
    assertEquals(await store.get(["b"]), null);
  });

  test("commit does nothing at all where one check of several fails", async (store) => {
    await write(store, put(["taken"], 1), put(["kept"], "old"));
    const checks = [{ key: ["free"], version: null }, { key: ["taken"], version: null }];
    const writes: Write[] = [put(["free"], 2), put(["kept"], "new"), { kind: "delete", key: ["taken"] }];
    assertEquals(await store.commit({ checks, writes }), false);
    assertEquals(values(await store.getMany([["free"], ["kept"], ["taken"]])), [undefined, "old", 1]);
  });

  test("commit of checks alone tells whether they hold", async (store) => {
    assertEquals(await store.commit({ checks: [{ key: ["a"], version: null }], writes: [] }), true);
    await write(store, put(["a"], 1));
    assertEquals(await store.commit({ checks: [{ key: ["a"], version: null }], writes: [] }), false);
  });

  test("commit gives every entry of one commit to the next reader", async (store) => {
    const keys = Array.from({ length: 40 }, (_, index) => ["k", String(index).padStart(2, "0")]);
    assertEquals(await write(store, ...keys.map((key) => put(key, key[1]))), true);
    assertEquals((await store.list({ prefix: ["k"], limit: 100 })).length, 40);
  });

  test("commit takes ten checks at once", async (store) => {
    const keys = Array.from({ length: 10 }, (_, index) => ["k", String(index)]);
    const checks = keys.map((key) => ({ key, version: null }));
    assertEquals(await store.commit({ checks, writes: keys.map((key) => put(key, 1)) }), true);
    assertEquals(await store.commit({ checks, writes: [put(["other"], 1)] }), false);
  });
}

function testValues(test: Register): void {
  test("gives values back as they were: nested, empty, null, booleans, every kind of text", async (store) => {
    const value = {
      text: "\u00e9\u{1F600}\u0000\n",
      empty: "",
      list: [1, [2, {}]],
      nothing: null,
      yes: true,
      amount: 0.1,
    };
    await write(store, put(["a"], value));
    assertEquals((await store.get(["a"]))?.value, value);
  });

  test("takes values of 60 KB, several in one commit", async (store) => {
    const value = "x".repeat(60_000);
    const keys = ["a", "b", "c"].map((name) => [name]);
    assertEquals(await write(store, ...keys.map((key) => put(key, value))), true);
    assertEquals(values(await store.getMany(keys)), [value, value, value]);
  });

  test("keeps an entry that has not expired, and takes one that already has", async (store) => {
    const hour = Date.now() + 3_600_000;
    assertEquals(await write(store, { kind: "set", key: ["a"], value: 1, expiresAt: hour }), true);
    assertEquals(await write(store, { kind: "set", key: ["b"], value: 2, expiresAt: 1 }), true);
    assertEquals((await store.get(["a"]))?.value, 1);
  });
}
