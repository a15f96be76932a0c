/** Data keys: what is sealed, how it opens, how keys are wrapped, and what stops the start. */
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import type { Commit, Store, Write } from "../../../../src/base/store/store.ts";
import { newConsentId, paymentIdFrom } from "../../../../src/base/kernel/identifiers.ts";
import { CaseErased, caseIdOf } from "../../../../src/platform/evidence/data_keys/case_keys.ts";
import { digestBytes } from "../../../../src/platform/evidence/digest.ts";
import { findUsedWrapping, openRewrapping } from "../../../../src/platform/evidence/data_keys/rewrap_keys.ts";
import {
  openSealed,
  rejectSealedStore,
  type Sealed,
} from "../../../../src/platform/evidence/data_keys/sealed_store.ts";
import { sealings } from "../../../../src/platform/evidence/data_keys/sealings.ts";
import { openWrappingKeys } from "../../../../src/platform/evidence/data_keys/wrapping_keys.ts";
import { backup } from "../../../../scripts/operators/store/main.ts";
import { platformRecords } from "../../../../src/platform/process/records.ts";
import { openDatabase } from "../../../../src/base/store/database_file.ts";
import { openTestStore } from "testing/test_store.ts";

const OWNER = { program: "data-keys", issuer: "https://auth.example" } as const;
const line = (id: string, byte: number): string => `${id} ${new Uint8Array(32).fill(byte).toBase64()}`;

const EMPTY_REQUEST = { Data: { Initiation: {} }, Risk: {} };

interface Stores extends AsyncDisposable, Sealed {
  readonly raw: Store;
  readonly vault: Store;
  elapsed: number;
}

async function openStores(): Promise<Stores> {
  const [raw, vault] = [await openTestStore(), await openDenoKv(":memory:")];
  const wrapping = await openWrappingKeys(line("first", 1));
  const clock = { elapsed: 0 };
  const parts = { store: raw, vault, wrapping, monotonic: () => clock.elapsed };
  const { store, caseKeys } = await openSealed(parts);
  return Object.assign(clock, { raw, vault, store, caseKeys, [Symbol.asyncDispose]: () => store.close() });
}

async function put(store: Store, key: readonly string[], value: unknown): Promise<void> {
  const write: Write = { kind: "set", key, value };
  await store.commit({ checks: [], writes: [write] });
}

Deno.test("every record with a customer's data is sealed [EN12]", () => {
  const named = platformRecords.filter(({ personalData }) => personalData === "customer").map(({ name }) =>
    name
  );
  assertEquals(sealings.map(({ record }) => record).sort(), named.sort());
});

Deno.test("a consent and its payment are one case, and another text has none [P3, G9]", () => {
  const consentId = newConsentId();
  const caseId = paymentIdFrom(consentId, digestBytes);
  for (const known of [false, true]) {
    assertEquals(
      [caseIdOf(consentId), caseIdOf(caseId), caseIdOf("x")],
      [caseId, caseId, undefined],
      `${known}`,
    );
  }
});

Deno.test("a member that no list declares readable is sealed [P3]", async () => {
  await using stores = await openStores();
  const consentId = await stores.caseKeys.newConsentId();
  const places: readonly (readonly [string[], Record<string, unknown>])[] = [
    [["consent", consentId], { status: "Rejected" }],
    [["payment", caseIdOf(consentId) ?? ""], { status: "Pending" }],
    [["authorization_session", "correlation"], { consentId }],
    [["evidence", `${consentId} 1 decision`, "0"], { bytes: "eA" }],
  ];
  for (const [key, members] of places) {
    const value = { ...members, nickname: "Ada of Bath" };
    await put(stores.store, key, value);
    const { sealedMembers, ...open } = (await stores.raw.get<{ sealedMembers: string }>(key))?.value ?? {};
    assert(sealedMembers !== undefined && !sealedMembers.includes(value.nickname), key[0]);
    assertEquals(JSON.stringify(open).includes("Ada"), false, key[0]);
    assertEquals((await stores.store.get<typeof value>(key))?.value.nickname, "Ada of Bath", key[0]);
  }
});

Deno.test("a sealed value opens in its own record alone, and a changed one not at all [P3]", async () => {
  await using stores = await openStores();
  const [mine, other] = [await stores.caseKeys.newConsentId(), await stores.caseKeys.newConsentId()];
  const value = { v: 1, bytes: "c2VjcmV0", salt: "x" };
  const key = ["evidence", `${mine} 1 decision`, "0"];
  await put(stores.store, key, value);
  assertEquals((await stores.store.get(key))?.value, value);
  assertEquals((await stores.store.list({ prefix: ["evidence"], limit: 9 }))[0]?.value, value);
  const stored = (await stores.raw.get<{ sealedMembers: string }>(key))?.value;
  assertEquals(Object.keys(stored ?? {}).sort(), ["sealedMembers", "v"]);
  await put(stores.store, key, { ...value, salt: "y" });
  const changed = (await stores.raw.get<{ sealedMembers: string }>(key))?.value;
  assertNotEquals(
    changed?.sealedMembers.slice(0, 16),
    stored?.sealedMembers.slice(0, 16),
    "a new text has a new IV",
  );
  for (const place of [`${mine} 2 decision`, `${other} 1 decision`]) {
    await put(stores.store, ["evidence", `${other} 9 order`, "0"], value); // the other case has a key
    await put(stores.raw, ["evidence", place, "0"], stored);
    await assertRejects(() => stores.store.get(["evidence", place, "0"]), Error, "does not open");
  }
  const box = stored?.sealedMembers ?? "";
  await put(stores.raw, key, { ...stored, sealedMembers: `${box[0] === "A" ? "B" : "A"}${box.slice(1)}` });
  await assertRejects(() => stores.store.getMany([key]), Error, "does not open");
});

Deno.test("sealed members are compressed, and come back as they were [P3]", async () => {
  await using stores = await openStores();
  const key = ["evidence", `${await stores.caseKeys.newConsentId()} 1 decision`, "0"];
  for (const text of ["", "\ufeff{}", "Ada of Bath ".repeat(1000), "é€😀\r\n\u0001"]) {
    const value = { v: 1, text, salt: "x" };
    await put(stores.store, key, value);
    const box = (await stores.raw.get<{ sealedMembers: string }>(key))?.value.sealedMembers ?? "";
    assert(box.length < 300, `${box.length} characters`);
    stores.elapsed += 60_000; // texts of boxes are remembered until then
    assertEquals((await stores.store.get(key))?.value, value);
  }
  const tooLong = put(stores.store, key, { v: 1, text: "a".repeat(262_144) });
  await assertRejects(() => tooLong, Error, "are too long");
});

Deno.test("the evidence in the row of an entry is sealed; a read opens it, and a listing asks for no key [EN12, P3]", async () => {
  await using stores = await openStores();
  const consentId = await stores.caseKeys.newConsentId();
  const key = ["audit", consentId, "1"];
  const value = { v: 1, event: "consent.Authorized", body: { text: "Ada of Bath" } };
  await put(stores.store, key, value);
  const stored = (await stores.raw.get<object>(key))?.value ?? {};
  assertEquals(Object.keys(stored).sort(), ["event", "sealedMembers", "v"]);
  const listed = async (): Promise<unknown> =>
    (await stores.store.list({ prefix: ["audit"], limit: 9 }))[0]?.value;
  assertEquals([(await stores.store.get(key))?.value, await listed()], [value, stored]);
  await put(stores.vault, ["data_key", caseIdOf(consentId) ?? ""], {
    v: 2,
    wrappedBy: "no key that is known",
  });
  stores.elapsed += 60_000;
  await assertRejects(() => stores.store.get(key));
  assertEquals(await listed(), stored);
});

Deno.test("personal data that stands unsealed is not read, and a case without a key gets one with its next write [P3]", async () => {
  await using stores = await openStores();
  const consentId = await stores.caseKeys.newConsentId();
  const key = ["evidence", `${consentId} 1 consent_request`, "0"];
  await put(stores.raw, key, { bytes: "b2xk" });
  await assertRejects(() => stores.store.get(key), Error, "is not sealed");
  const other = ["evidence", `${newConsentId()} 1 consent_request`, "0"];
  await put(stores.store, other, { bytes: "bmV3" });
  assert("sealedMembers" in Object((await stores.raw.get(other))?.value));
  assertEquals((await stores.store.get(other))?.value, { bytes: "bmV3" });
});

Deno.test("a key that was erased by another process is forgotten after a minute, and the data key store is asked once in it [P3]", async () => {
  await using stores = await openStores();
  const consentId = await stores.caseKeys.newConsentId();
  const caseId = caseIdOf(consentId) ?? "";
  const key = ["evidence", `${consentId} 1 order`, "0"];
  await put(stores.store, key, { v: 1, bytes: "b2xk" });
  await put(stores.vault, ["data_key", caseId], { v: 1, erasedAt: 1 });
  stores.elapsed = 59_999;
  assertEquals((await stores.store.get<{ bytes: string }>(key))?.value.bytes, "b2xk");
  stores.elapsed = 60_000;
  assertEquals((await stores.store.get(key))?.value, {
    v: 1,
    personalData: { state: "erased", at: 1, scope: "key" },
  });
  await assertRejects(() => put(stores.store, key, { v: 1, bytes: "bmV3" }), Error, "was erased");
  await stores.vault.commit({ checks: [], writes: [{ kind: "delete", key: ["data_key", caseId] }] });
  stores.elapsed = 200_000;
  await assertRejects(() => stores.store.get(key), Error, "is missing");
});

Deno.test("ids of new consents are made in blocks, each with a key; one of the block can be taken back, and none is used after 12 hours [P3]", async () => {
  await using stores = await openStores();
  const commits: number[] = [];
  const { commit } = stores.vault;
  stores.vault.commit = (staged) => (commits.push(staged.writes.length), commit(staged));
  const ids = await Promise.all(Array.from({ length: 65 }, () => stores.caseKeys.newConsentId()));
  assertEquals(new Set(ids).size, 65);
  assertEquals(commits, [64, 64]);
  const { newConsentId, takeBack } = stores.caseKeys;
  const [early, late] = [ids[0], ids[64]] as const;
  if (early === undefined || late === undefined) throw new Error("no ids");
  takeBack(early); // of an earlier block
  assertNotEquals(await newConsentId(), early);
  for (const [elapsed, isUsed] of [[43_199_999, true], [43_200_000, false]] as const) {
    takeBack(late);
    stores.elapsed = elapsed;
    assertEquals(await newConsentId() === late, isUsed);
  }
  assertEquals(commits, [64, 64, 64]);
});

Deno.test("after a change of the wrapping key every data key is wrapped again, and the former one can go [P3]", async () => {
  await using stores = await openStores();
  const id = caseIdOf(await stores.caseKeys.newConsentId()) ?? "";
  const logged: unknown[] = [];
  const { vault, wrapping } = stores.caseKeys.stored;
  const log = { info: (...given: unknown[]) => void logged.push(given) } as never;
  const rewrap = openRewrapping({ vault, wrapping, log });
  assertEquals(await rewrap(), 0, "one key: nothing to do");
  const findUsed = (ids: ReadonlySet<string>): Promise<string | undefined> => findUsedWrapping(vault, ids);
  await wrapping.renew(`${line("first", 1)}\n${line("second", 2)}\n`, findUsed);
  assertEquals(await rewrap(), 0, "the next key is known, and does not wrap");
  await wrapping.renew(`${line("second", 2)}\n${line("first", 1)}\n`, findUsed);
  await assertRejects(() => wrapping.renew(line("second", 2), findUsed), Error, "first is missing");
  assertEquals(await rewrap(), 64);
  assertEquals(await rewrap(), 0);
  assertEquals(logged, [
    ["data_keys.rewrapped", { wrappedBy: "first" }],
    ["data_keys.rewrapped", { wrappedBy: "second" }],
  ]);
  await wrapping.renew(line("second", 2), findUsed);
  const alone = await openWrappingKeys(line("second", 2));
  const again = await openSealed({ store: stores.raw, vault, wrapping: alone, monotonic: () => 0 });
  const key = await again.caseKeys.opening(id);
  assert(key instanceof CryptoKey && !key.extractable);
});

Deno.test("a data key store that is another one, or wrapping keys that are others, stop the start [P3]", async () => {
  const folder = await Deno.makeTempDir();
  const stores: Store[] = [];
  const open = async (store: Store, path: string, text = line("first", 1)): Promise<Sealed> => {
    const vault = await openDatabase(`${folder}/${path}`, OWNER);
    try {
      const wrapping = await openWrappingKeys(text);
      const sealed = await openSealed({ store, vault, wrapping, monotonic: () => 0 });
      stores.push(vault);
      return sealed;
    } catch (error) {
      await vault.close();
      throw error;
    }
  };
  try {
    await using raw = Object.assign(await openTestStore(), {
      async [Symbol.asyncDispose](): Promise<void> {
        await raw.close();
      },
    });
    await rejectSealedStore(raw);
    await open(raw, "a.keys");
    await stores.pop()?.close();
    await assertRejects(() => open(raw, "b.keys"), Error, "not the one that has the keys");
    await assertRejects(() => open(raw, "b.keys"), Error, "not the one that has the keys");
    await assertRejects(
      () => open(raw, "a.keys", line("second", 1)),
      Error,
      "first is not in PLATFORM_WRAPPING_KEYS",
    );
    await assertRejects(() => open(raw, "a.keys", line("first", 3)), Error, "does not open");
    await assertRejects(() => rejectSealedStore(raw), Error, "Set PLATFORM_WRAPPING_KEYS");
    await using fresh = Object.assign(await openTestStore(), {
      async [Symbol.asyncDispose](): Promise<void> {
        await fresh.close();
      },
    });
    const other = await openWrappingKeys(line("other", 1));
    const commit: Store["commit"] = async (staged) => {
      vault.commit = first; // another process with other keys is first
      await openSealed({ store: await openTestStore(), vault: fresh, wrapping: other, monotonic: () => 0 });
      return await first(staged);
    };
    const { commit: first } = fresh;
    const vault = { ...fresh, commit };
    const wrapping = await openWrappingKeys(line("first", 1));
    const parts = { store: await openTestStore(), vault, wrapping, monotonic: () => 0 };
    await assertRejects(() => openSealed(parts), Error, "other is not in PLATFORM_WRAPPING_KEYS");
    const raced = await openTestStore();
    const { commit: link } = raced;
    const late = {
      ...raced,
      async commit(staged: Commit): Promise<boolean> {
        late.commit = link; // another process with other data keys is first
        await openSealed({ ...parts, store: raced, vault: await openTestStore() });
        return await link(staged);
      },
    };
    const own = await openTestStore();
    await put(own, ["store_identity"], { id: "own" });
    await assertRejects(
      () => openSealed({ ...parts, store: late, vault: own }),
      Error,
      "not the one that has",
    );
    const copy = `${folder}/copy.kv`;
    await backup(`${folder}/a.keys`, copy, 0);
    await open(raw, "a.keys");
    await stores.pop()?.close();
    await Deno.copyFile(copy, `${folder}/a.keys`);
    await open(raw, "a.keys"); // a restored backup
    assertEquals(await stores[0]?.get(["store_copy"]), null, "from now on an older copy is noticed again");
    await stores.pop()?.close();
    await Deno.remove(`${folder}/a.keys`);
    await assertRejects(() => open(raw, "a.keys"), Error, "although it was in use here");
  } finally {
    for (const store of stores) await store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("closing the sealed store closes both stores, and ends when both are closed", async () => {
  const closed: string[] = [];
  const slow = (name: string, store: Store): Store => ({
    ...store,
    async close() {
      await new Promise((done) => setTimeout(done, 1));
      await store.close();
      closed.push(name);
    },
  });
  const [store, vault] = [slow("store", await openTestStore()), slow("data keys", await openTestStore())];
  const wrapping = await openWrappingKeys(line("first", 1));
  const sealed = await openSealed({ store, vault, wrapping, monotonic: () => 0 });
  await sealed.store.close();
  assertEquals(closed, ["store", "data keys"]);
});

Deno.test("a change of readable members leaves the sealed ones as they are, also of a value that another process has sealed [P3]", async () => {
  await using stores = await openStores();
  const consentId = await stores.caseKeys.newConsentId();
  const key = ["consent", consentId];
  const boxAfter = async (status: string, sub: string): Promise<unknown> => {
    await put(stores.store, key, { status, payer: { sub } });
    assertEquals((await stores.store.get(key))?.value, { status, payer: { sub }, request: EMPTY_REQUEST });
    return (await stores.raw.get<Record<string, unknown>>(key))?.value["sealedMembers"];
  };
  const first = await boxAfter("AwaitingAuthorisation", "alice");
  assertEquals(await boxAfter("Authorized", "alice"), first);
  const second = await boxAfter("Authorized", "bob");
  assertNotEquals(second, first);
  assertNotEquals(await boxAfter("Authorized", "alice"), first); // only the newest is remembered
  const third = await boxAfter("Authorized", "bob");
  stores.elapsed += 60_000;
  await stores.store.get(key); // opens it, as it would one of another process
  assertEquals(await boxAfter("Consumed", "bob"), third);
  stores.elapsed += 59_999;
  assertEquals(await boxAfter("Consumed", "bob"), third);
  stores.elapsed += 60_000;
  assertNotEquals(await boxAfter("Consumed", "bob"), third);
  await stores.caseKeys.erase(caseIdOf(consentId) ?? "", 1);
  await assertRejects(
    () => put(stores.store, key, { status: "Consumed", payer: { sub: "bob" } }),
    CaseErased,
  );
});

Deno.test("a value that this process has sealed opens without decryption for a minute, only at its own key and until its case is erased [P3]", async () => {
  await using stores = await openStores();
  const consentId = await stores.caseKeys.newConsentId();
  const key = ["consent", consentId];
  await put(stores.store, key, { status: "Authorized", payer: { sub: "alice" } });
  const sealed = (await stores.raw.get<Record<string, unknown>>(key))?.value;
  const { decrypt } = crypto.subtle;
  let decrypted = 0;
  crypto.subtle.decrypt = (...given) => {
    decrypted++;
    return decrypt.apply(crypto.subtle, given);
  };
  try {
    const payerAt = async (at: readonly string[]): Promise<unknown> =>
      (await stores.store.get<{ payer?: unknown }>(at))?.value.payer;
    assertEquals([await payerAt(key), decrypted], [{ sub: "alice" }, 0]);
    stores.elapsed += 59_999;
    assertEquals([await payerAt(key), decrypted], [{ sub: "alice" }, 0]);
    stores.elapsed += 60_000;
    assertEquals(await payerAt(key), { sub: "alice" });
    assert(decrypted > 0);
    const other = ["consent", await stores.caseKeys.newConsentId()];
    await put(stores.raw, other, sealed);
    await assertRejects(() => payerAt(other), Error, "does not open with its key");
    await put(stores.store, key, { status: "Consumed", payer: { sub: "alice" } });
    await stores.caseKeys.erase(caseIdOf(consentId) ?? "", 1);
    assertEquals(await payerAt(key), undefined);
  } finally {
    crypto.subtle.decrypt = decrypt;
  }
});
