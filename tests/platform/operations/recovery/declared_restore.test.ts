/** Each record declares what a restore does to it. Here the declarations are compared with what happens. */
import { assert, assertEquals } from "@std/assert";
import type { Restore } from "../../../../src/base/store/record.ts";
import type { Entry, Key } from "../../../../src/base/store/store.ts";
import { platformRecords } from "../../../../src/platform/process/records.ts";
import { authorise, codeOf, toBank } from "testing/authorization_flow.ts";
import { clientToken } from "testing/flows.ts";
import { openTwo, post, proposed } from "support/four_eyes.ts";
import { copyOf, restore } from "support/restored_store.ts";

const DECLARED = new Map<string, Restore>(platformRecords.map(({ name, restore }) => [name, restore]));

/** What the record of a key declares: that of the longest name that the key begins with. */
function declaredOf(key: Key): Restore {
  const parts = key.map(String);
  for (let length = parts.length; length > 0; length--) {
    const declared = DECLARED.get(parts.slice(0, length).join(" "));
    if (declared !== undefined) return declared;
  }
  throw new Error(`no record has ${JSON.stringify(key)}`);
}

function named(entries: readonly Entry<unknown>[]): ReadonlyMap<string, unknown> {
  return new Map(entries.map(({ key, value }) => [JSON.stringify(key), value]));
}

Deno.test("a restore does to each record what the record declares [G9]", async () => {
  await using env = await openTwo();
  await clientToken(env, env.tpp);
  const flow = await toBank(env);
  codeOf(await authorise(env, flow));
  await toBank(env);
  const proposal = await proposed(env, "/organisations/BANKA/block");
  const copy = await copyOf(env);
  const seen = new Set(copy.entries.map(({ key }) => declaredOf(key)));
  await restore(env, copy);
  const after = named((await copyOf(env)).entries);
  const atBank: number[][] = [];
  const sessionsAtBank = (consent: unknown): number =>
    Object.keys(Object(consent).sessionsAtBank ?? {}).length;
  for (const { key, value } of copy.entries) {
    const [name, declared] = [JSON.stringify(key), declaredOf(key)];
    // A process that stops gives back what it has drawn of a bucket.
    if (declared === "kept" && key[0] !== "rate_bucket") assertEquals(after.get(name), value, name);
    if (declared === "deleted") assert(!after.has(name), name);
    if (key[0] === "consent") atBank.push([value, after.get(name)].map((one) => sessionsAtBank(one)));
    if (declared === "ended") assert(Number(Object(after.get(name)).expiresAt) <= env.now, name);
  }
  assertEquals(
    atBank.toSorted(([one = 0], [other = 0]) => one - other),
    [[0, 0], [1, 0]],
    "a customer may have returned since",
  );
  assertEquals([...seen].sort(), ["deleted", "ended", "follows", "kept", "voided"]);
  const { status, body } = await post(env, `/proposals/${proposal}/approve`, "maria");
  assertEquals([status, body.error_description], [409, "It has expired."], "it may have been decided since");
});
