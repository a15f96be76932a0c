/** The platform's records: every stored value belongs to one, is JSON, and former values are still read. */
import { assert, assertEquals } from "@std/assert";
import { bodyAt } from "../../../src/platform/evidence/evidence_store.ts";
import { platformRecords } from "../../../src/platform/process/records.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Entry, Key } from "../../../src/base/store/store.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { openEnvironment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { reportAccounts } from "testing/front_channel.ts";
import former from "./former_values.json" with { type: "json" };

function decoded(entry: Entry<unknown>): unknown {
  const record = platformRecords.find(({ name }) => name === entry.key[0]);
  if (record === undefined) throw new Error(`${entry.key[0]} is not declared`);
  return record.decode(entry).value;
}

Deno.test("every value that a payment stores belongs to a declared record, is JSON, and has its version", async () => {
  await using env = await openEnvironment();
  await reportAccounts(env, await toBank(env));
  await good(pay(env, await authorised(env)), 201);
  for (const { key, value } of await env.snapshot()) {
    decoded({ key, value, version: "1" });
    assertEquals<unknown>(JSON.parse(JSON.stringify(value)), value, key.join(" "));
    if (typeof value === "object") assertEquals(Reflect.get(value ?? {}, "v"), 1, key.join(" "));
  }
});

/** Their values are ids, signed texts and pieces of a document. A new record stores an object. */
const WITHOUT_VERSION = [
  "consent_deadline",
  "kept_piece",
  "outbox_dead",
  "outbox_held",
  "outbox_queue",
  "payment_order",
  "software_statement",
  "store_probe",
];

Deno.test("every record has a version, except those whose value is one text or flag", () => {
  const unversioned = platformRecords.filter(({ isVersioned }) => !isVersioned).map(({ name }) => name);
  assertEquals(unversioned.toSorted(), WITHOUT_VERSION);
});

/** As Deno KV returned them, except that bytes are marked, because JSON has none. */
const FORMER: readonly { readonly key: Key; readonly value: unknown }[] = former.map(({ key, value }) => ({
  key,
  value: withBytes(value),
}));

function withBytes(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("bytes" in value)) return value;
  const marked = JSON.parse(JSON.stringify(value.bytes)) as { readonly $bytes: string };
  return { ...value, bytes: Uint8Array.fromBase64(marked.$bytes) };
}

Deno.test("values that the platform stored before records had versions are read as they are", () => {
  const kinds = new Set(FORMER.map(({ key }) => key[0]));
  assert(kinds.size >= 20, [...kinds].join(" "));
  for (const { key, value } of FORMER) {
    const read = decoded({ key, value, version: "1" });
    if (key[0] === "client" || key[0] === "access_token" || key[0] === "outbox") assertEquals(read, value);
  }
});

Deno.test("signed bytes that were stored as bytes are the same evidence as base64url", async () => {
  const piece = FORMER.find(({ key }) => key[0] === "evidence");
  const subject = piece?.key[1];
  if (piece === undefined || subject === undefined) throw new Error("no evidence");
  const store = await openDenoKv(":memory:");
  await store.commit({ checks: [], writes: [{ kind: "set", ...piece }] });
  const evidence = await bodyAt(store, subject);
  assertEquals<unknown>({ signature: evidence?.signature, bytes: evidence?.bytes }, piece.value);
  store.close();
});

Deno.test("every record that leads to a customer has a retention that ends [EN13]", () => {
  const ending = ["protocol", "traces", "evidence", "audit"];
  for (const { name, personalData, retention } of platformRecords) {
    if (personalData !== "customer" && personalData !== "pseudonymous") continue;
    assert(ending.includes(retention), `${name} is kept as ${retention}`);
  }
});
