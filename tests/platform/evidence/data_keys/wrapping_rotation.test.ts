/** Wrapping keys: each process must know the next one before it wraps, and none that is in use can go. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import { caseIdOf } from "../../../../src/platform/evidence/data_keys/case_keys.ts";
import { findUsedWrapping, openRewrapping } from "../../../../src/platform/evidence/data_keys/rewrap_keys.ts";
import { openSealed, type Sealed } from "../../../../src/platform/evidence/data_keys/sealed_store.ts";
import {
  openWrappingKeys,
  type WrappingKeys,
} from "../../../../src/platform/evidence/data_keys/wrapping_keys.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { openTestStore } from "testing/test_store.ts";

const line = (id: string, byte: number): string => `${id} ${new Uint8Array(32).fill(byte).toBase64()}`;
const [FIRST, SECOND] = [line("first", 1), line("second", 2)];

interface Process extends Sealed {
  readonly wrapping: WrappingKeys;
  readonly unknown: string[];
  renew(text: string): Promise<void>;
  rewrap(): Promise<number>;
}

/** A process of its own with the same two stores. */
async function openProcess(store: Store, vault: Store, text: string): Promise<Process> {
  const wrapping = await openWrappingKeys(text);
  const sealed = await openSealed({ store, vault, wrapping, monotonic: () => 0 as never });
  const unknown: string[] = [];
  sealed.caseKeys.watch({
    lost() {},
    failing() {},
    working() {},
    unknownWrapping: (id) => void unknown.push(id),
  });
  const rewrap = openRewrapping({ vault, wrapping, log: { info() {} } as never });
  const renew = (changed: string): Promise<void> =>
    wrapping.renew(changed, (ids) => findUsedWrapping(vault, ids));
  return { ...sealed, wrapping, unknown, renew, rewrap };
}

async function openTwo(): Promise<AsyncDisposable & { readonly one: Process; readonly other: Process }> {
  const [store, vault] = [await openTestStore(), await openDenoKv(":memory:")];
  const one = await openProcess(store, vault, FIRST);
  const other = await openProcess(store, vault, FIRST);
  return { one, other, [Symbol.asyncDispose]: () => one.store.close() };
}

Deno.test("a reload whose first line is new to the process is rejected, and the former key wraps on [P3]", async () => {
  await using two = await openTwo();
  const { one } = two;
  await assertRejects(() => one.renew(`${SECOND}\n${FIRST}`), Error, "the first line second is new");
  await assertRejects(() => one.renew(SECOND), Error, "the first line second is new");
  assertEquals([one.wrapping.newestId, one.wrapping.known], ["first", 1]);
});

Deno.test("a reload that changes the key of a line is rejected [P3]", async () => {
  await using two = await openTwo();
  await assertRejects(() => two.one.renew(line("first", 7)), Error, "the line first has another key");
});

Deno.test("a line goes only when it wraps no data key any more, of whatever process, also the last of many [P3]", async () => {
  await using two = await openTwo();
  const { one, other } = two;
  for (let block = 0; block < 4; block++) {
    for (let made = 0; made < 64; made++) await one.caseKeys.newConsentId(); // more than a page of the search
  }
  for (const text of [`${FIRST}\n${SECOND}`, `${SECOND}\n${FIRST}`]) await one.renew(text);
  await other.renew(`${FIRST}\n${SECOND}`);
  let passes = 0;
  while (await one.rewrap() > 0) passes++;
  assert(passes > 1);
  assertEquals(await findUsedWrapping(one.caseKeys.stored.vault, new Set(["first"])), undefined);
  const last = "zzzz"; // behind more than one page of the search
  const wrapped = await other.wrapping.wrap(last, new Uint8Array(32)); // not reloaded yet: the former key wraps
  const write = { kind: "set", key: ["data_key", last], value: { v: 1, ...wrapped } } as const;
  await other.caseKeys.stored.vault.commit({ checks: [], writes: [write] });
  await assertRejects(() => one.renew(SECOND), Error, "the line first is missing and still wraps data keys");
  await other.renew(`${SECOND}\n${FIRST}`);
  for (let pages = 0; pages < 3; pages++) await other.rewrap();
  await one.renew(SECOND);
  await other.renew(SECOND);
});

Deno.test("the check value alone keeps its line [P3]", async () => {
  await using two = await openTwo();
  const { one } = two;
  for (const text of [`${FIRST}\n${SECOND}`, `${SECOND}\n${FIRST}`]) await one.renew(text);
  await assertRejects(() => one.renew(SECOND), Error, "the line first is missing");
});

Deno.test("a data key whose wrapping key a process lacks is 503 there, with one alarm, and opens after the reload [P3]", async () => {
  await using two = await openTwo();
  const { one, other } = two;
  for (const text of [`${FIRST}\n${SECOND}`, `${SECOND}\n${FIRST}`]) await one.renew(text);
  const cases = [await one.caseKeys.newConsentId(), await one.caseKeys.newConsentId()].map((id) =>
    caseIdOf(id) ?? ""
  );
  for (const id of cases) {
    for (const use of [() => other.caseKeys.opening(id), () => other.caseKeys.sealing(id)]) {
      const error = await assertRejects(use, ApiError);
      assertEquals([error.reason, error.parts.retryAfterSeconds], ["store.unavailable", 60]);
    }
  }
  assertEquals(other.unknown, ["second"]);
  await other.renew(`${FIRST}\n${SECOND}`);
  for (const id of cases) assert(await other.caseKeys.opening(id) instanceof CryptoKey);
});

Deno.test("up to ten wrapping keys are known, with white space around their lines", async () => {
  const lines = Array.from({ length: 10 }, (_, id) => ` ${line(`k${id}`, id)} `);
  const { newestId, known } = await openWrappingKeys(`\n${lines.join("\n\n")}\n`);
  assertEquals([newestId, known], ["k0", 10]);
});

for (
  const [name, text] of [
    ["no key", "\n"],
    ["a short key", "first AAAA"],
    ["an id with a space", `a b ${"A".repeat(43)}=`],
    ["an id twice", `${line("a", 1)}\n${line("a", 2)}`],
    ["too many keys", Array.from({ length: 11 }, (_, id) => line(`k${id}`, id)).join("\n")],
  ] as const
) {
  Deno.test(`wrapping keys are rejected with ${name}`, async () => {
    const error = await assertRejects(() => openWrappingKeys(text), Error);
    assert(!error.message.includes("AAAA"), error.message);
  });
}
