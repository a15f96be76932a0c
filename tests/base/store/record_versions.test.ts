/** Two versions of a program change the same objects of one store. */
import { assertEquals, assertRejects } from "@std/assert";
import { z } from "zod";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { type Declaration, defineRecord, optional, RecordFault } from "../../../src/base/store/record.ts";
import type { Key, Store } from "../../../src/base/store/store.ts";
import { check, transact } from "../../../src/base/store/transaction.ts";

interface Former {
  readonly status: string;
  readonly seconds: number;
}

/** Adds a member, and changes the unit of another under a new name. The former member stays while both versions run. */
interface Next extends Former {
  readonly milliseconds: number;
  readonly note?: string;
}

const KEY: Key = ["thing", "1"];
const declared = {
  name: "thing",
  keyParts: ["id"],
  what: "A thing.",
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
} as const;
const former = {
  ...declared,
  version: 1,
  schema: z.looseObject({ status: z.string(), seconds: z.number() }),
};
const next: Declaration<Next> = {
  ...declared,
  version: 2,
  schema: z.looseObject({
    status: z.string(),
    seconds: z.number(),
    milliseconds: z.number(),
    note: optional(z.string()),
  }),
  upgrades: { 2: (thing) => ({ ...thing, milliseconds: Number(thing.seconds) * 1000 }) },
};
const oldRecord = defineRecord<Former>(former);
const newRecord = defineRecord<Next>(next);
const later = defineRecord<Next>({
  ...next,
  version: 3,
  upgrades: { ...next.upgrades, 3: (thing) => thing },
});

/** Reads the object with this program's record, changes a copy and stores it. */
async function change<T extends object>(
  store: Store,
  record: ReturnType<typeof defineRecord<T>>,
  changed: (value: T) => T,
): Promise<void> {
  await transact({ store, clock: () => 0 }, { what: "thing" }, async (tx) => {
    const entry = await record.get(tx, KEY);
    if (entry === null) throw new Error("no thing");
    check(tx, KEY, entry.version);
    record.set(tx, KEY, changed(entry.value));
  });
}

async function storing<T extends object>(
  record: ReturnType<typeof defineRecord<T>>,
  value: T,
): Promise<Store> {
  const store = await openDenoKv(":memory:");
  const writes: Parameters<typeof record.set>[0]["writes"] = [];
  record.set({ writes }, KEY, value);
  await store.commit({ checks: [], writes });
  return store;
}

Deno.test("the former version reads and changes what the next one wrote, and the next one reads that change", async () => {
  const store = await storing(newRecord, { status: "open", seconds: 5, milliseconds: 5000, note: "kept" });
  assertEquals((await oldRecord.get(store, KEY))?.value.seconds, 5);
  await change(store, oldRecord, (thing) => ({ ...thing, status: "closed", seconds: 7 }));
  const expected: Next = { status: "closed", seconds: 7, milliseconds: 7000, note: "kept" };
  assertEquals((await newRecord.get(store, KEY))?.value, expected);
  await change(store, newRecord, (thing) => ({ ...thing, status: "gone" }));
  assertEquals((await oldRecord.get(store, KEY))?.value.status, "gone");
  store.close();
});

Deno.test("the next version reads and changes what the former one wrote, and the former one reads that change", async () => {
  const store = await storing(oldRecord, { status: "open", seconds: 5 });
  await change(
    store,
    newRecord,
    (thing) => ({ ...thing, seconds: 6, milliseconds: thing.milliseconds + 1000 }),
  );
  assertEquals((await oldRecord.get(store, KEY))?.value.seconds, 6);
  assertEquals((await newRecord.get(store, KEY))?.value, { status: "open", seconds: 6, milliseconds: 6000 });
  store.close();
});

Deno.test("a version that is two ahead is rejected, and the object stays as it is", async () => {
  const store = await storing(later, { status: "open", seconds: 5, milliseconds: 5000 });
  const before = await store.get(KEY);
  await assertRejects(() => change(store, oldRecord, (thing) => thing), RecordFault);
  assertEquals(await store.get(KEY), before);
  store.close();
});
