/** `store/record`: versions, upgrades, and values that any database can hold. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { z } from "zod";
import { openTestStore } from "testing/test_store.ts";
import {
  convertedRecord,
  defineRecord,
  optional,
  RecordFault,
  type StoredRecord,
} from "../../../src/base/store/record.ts";
import type { Store, Write } from "../../../src/base/store/store.ts";

interface Note {
  readonly text: string;
  readonly at?: number;
}

const DECLARATION = {
  name: "note",
  keyParts: ["id"],
  what: "A note.",
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
} as const;
const schema = z.looseObject({ text: z.string(), at: optional(z.number()) });
const noteRecord = defineRecord<Note>({ ...DECLARATION, schema, version: 1 });
const KEY = ["note", "1"];

function staged<T>(record: StoredRecord<T>, value: T): unknown {
  const writes: Write[] = [];
  record.set({ writes }, KEY, value);
  return writes[0]?.kind === "set" ? writes[0].value : undefined;
}

async function withStored(value: unknown, body: (store: Store) => Promise<void>): Promise<void> {
  await using store = await openTestStore();
  await store.commit({ checks: [], writes: [{ kind: "set", key: KEY, value }] });
  await body(store);
}

Deno.test("a record stores its version, and reads a value with it, without it and from before it", async () => {
  assertEquals(staged(noteRecord, { text: "a" }), { text: "a", v: 1 });
  for (const stored of [{ text: "a" }, { text: "a", v: 1 }]) {
    await withStored(stored, async (store) => {
      assertEquals((await noteRecord.get(store, KEY))?.value, { text: "a" });
    });
  }
  assertThrows(
    () => defineRecord<Note>({ ...DECLARATION, schema, version: 2 }),
    RecordFault,
    "no upgrade to 2",
  );
  const second = defineRecord<Note>({
    ...DECLARATION,
    schema,
    version: 2,
    upgrades: { 2: ({ words, ...rest }) => ({ ...rest, text: words }) },
  });
  await withStored({ words: "of version 1" }, async (store) => {
    assertEquals((await second.get(store, KEY))?.value, { text: "of version 1" });
  });
});

Deno.test("a record reads the next version, keeps members that it does not know, and rejects later versions", async () => {
  await withStored({ text: "a", colour: "red", v: 2 }, async (store) => {
    const value = (await noteRecord.get(store, KEY))?.value ?? { text: "" };
    assertEquals<unknown>(staged(noteRecord, { ...value, text: "b" }), { text: "b", colour: "red", v: 1 });
  });
  await withStored({ text: "a", v: 3 }, async (store) => {
    await assertRejects(() => noteRecord.get(store, KEY), RecordFault, "record note has version 3");
  });
});

Deno.test("a record rejects a value of another form when it is read and when it is written, and shows no value", async () => {
  await withStored({ text: 7, at: "secret" }, async (store) => {
    const fault = await assertRejects(() => noteRecord.get(store, KEY), RecordFault);
    assertEquals(fault.message, "record note has an unexpected form: text invalid_type, at invalid_type");
  });
  const wrong: unknown = { text: 7 };
  assertThrows(() => staged(noteRecord, wrong as Note), RecordFault, "record note would not fit: text");
});

Deno.test("a record rejects a NUL character and a value beyond the bound, and takes what looks like one", () => {
  assertThrows(() => staged(noteRecord, { text: "a\0b" }), RecordFault, "NUL");
  assertEquals(staged(noteRecord, { text: "\\u0000" }), { text: "\\u0000", v: 1 });
  const most = 65_536 - '{"text":""}'.length;
  staged(noteRecord, { text: "x".repeat(most) });
  assertThrows(() => staged(noteRecord, { text: "x".repeat(most + 1) }), RecordFault, "too large");
});

Deno.test("a converted record stores one form and returns another", async () => {
  const lengthRecord = convertedRecord(
    noteRecord,
    ({ text }) => text.length,
    (length) => ({ text: "x".repeat(length) }),
  );
  assertEquals(staged(lengthRecord, 3), { text: "xxx", v: 1 });
  await withStored({ text: "four" }, async (store) => {
    assertEquals((await lengthRecord.get(store, KEY))?.value, 4);
  });
});

Deno.test("a frozen value, which readers share, is decoded once, and none of them can change the result", () => {
  let parsed = 0;
  const counted = z.looseObject({
    text: z.string().refine(() => ++parsed > 0),
    at: optional(z.number()),
    list: optional(z.array(z.number())),
  });
  const record = defineRecord<Note & { readonly list?: readonly number[] }>({
    ...DECLARATION,
    schema: counted,
    version: 1,
  });
  const shared = { key: KEY, value: Object.freeze({ text: "a", list: [1] }), version: "1" };
  const [first, second] = [record.decode(shared), record.decode(shared)];
  assertEquals([parsed, first.value, second.value], [1, { text: "a", list: [1] }, first.value]);
  assertThrows(() => (first.value.list as number[]).push(2), TypeError);
  const own = { ...shared, value: { text: "b" } };
  assertEquals([record.decode(own).value, record.decode(own).value], [{ text: "b" }, { text: "b" }]);
  assertEquals(parsed, 3);
  const faulty = { ...shared, value: Object.freeze({ text: 1 }) };
  for (let again = 0; again < 2; again++) assertThrows(() => record.decode(faulty), RecordFault);
});
