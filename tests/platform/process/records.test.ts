/** The platform's records: every stored value belongs to one, and is JSON. */
import { assert, assertEquals } from "@std/assert";
import { platformRecords } from "../../../src/platform/process/records.ts";
import type { Entry } from "../../../src/base/store/store.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { reportAccounts } from "testing/front_channel.ts";
import { test } from "support/environment_test.ts";

function decoded(entry: Entry<unknown>): unknown {
  const record = platformRecords.find(({ name }) => name === entry.key[0]);
  if (record === undefined) throw new Error(`${entry.key[0]} is not declared`);
  return record.decode(entry).value;
}

test("every value that a payment stores belongs to a declared record, is JSON, and has its version", async ({ env }) => {
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

Deno.test("every record that leads to a customer has a retention that ends [EN13]", () => {
  const ending = ["protocol", "traces", "evidence", "audit"];
  for (const { name, personalData, retention } of platformRecords) {
    if (personalData !== "customer" && personalData !== "pseudonymous") continue;
    assert(ending.includes(retention), `${name} is kept as ${retention}`);
  }
});
