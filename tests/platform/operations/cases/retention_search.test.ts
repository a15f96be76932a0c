/** What the search for due cases reads, and that it misses none [EN13, EN14]. */
import { assert, assertEquals } from "@std/assert";
import type { Environment } from "testing/environment.ts";
import type { Write } from "../../../../src/base/store/store.ts";
import { putStatus } from "testing/back_channel.ts";
import { authorised } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { isComplete } from "support/part_of.ts";
import { type ListedStore, openListedStore } from "support/listed_store.ts";
import { openRetaining, pass, recordsOf, settled, work } from "support/retention.ts";

const CONSENTS = isComplete ? 1_000_000 : 2000;
const ERASURE_ALONE = { PLATFORM_KEEP_CASES_DAYS: "100", PLATFORM_ERASE_CASES_DAYS: "200" };

/** Adds so many erased cases, whose ids are before those of all others, to a store without a search. */
async function addErased(env: Environment, count: number): Promise<void> {
  const { consentId } = await settled(env);
  await pass(env, 201);
  assertEquals(await work(env), 1);
  const value = (await env.raw.get<Record<string, unknown>>(["consent", consentId]))?.value;
  for (let from = 0; from < count; from += 500) {
    const writes = Array.from({ length: Math.min(500, count - from) }, (_, at): Write => {
      const id = `00000000-0000-7000-8000-${String(from + at).padStart(12, "0")}`;
      return { kind: "set", key: ["consent", id], value: { ...value, id } };
    });
    assert(await env.raw.commit({ checks: [], writes }));
  }
  await env.raw.commit({ checks: [], writes: [{ kind: "delete", key: ["retention_scan", "evidence"] }] });
}

/** Lets a search end that has begun. Returns the number of its passes. */
async function ended(env: Environment, store: ListedStore): Promise<number> {
  for (let passes = 1;; passes++) {
    if ((await store.listedBy(() => env.platform.retireCases())).lists === 0) return passes;
  }
}

Deno.test(`after a search through ${CONSENTS} erased cases the next ones read only what has become old since, also after a restart [EN13]`, async () => {
  const store = await openListedStore();
  await using env = await openRetaining(store, ERASURE_ALONE);
  await addErased(env, CONSENTS);
  assertEquals(await ended(env, store), 2 + Math.floor(CONSENTS / 500));
  for (const restarts of [false, true]) {
    if (restarts) await env.restart();
    await settled(env);
    env.now += 3_600_000;
    await env.platform.followTime();
    const cost = await store.listedBy(() => env.platform.retireCases());
    assert(cost.lists <= 4 && cost.rows <= 10, JSON.stringify(cost));
  }
  await pass(env, 15);
  await work(env);
  await pass(env, 14); // a day before a search begins anew
  assertEquals(await work(env), 0);
});

Deno.test("a search with 1,500 new cases ends within four passes [EN13]", async () => {
  const store = await openListedStore();
  await using env = await openRetaining(store, ERASURE_ALONE);
  await addErased(env, 1500);
  assert(await ended(env, store) <= 5); // the last one finds that it has ended
});

Deno.test("an old case that is not final is left, and erased in the hour in which it can be [EN13]", async () => {
  await using env = await openRetaining(undefined, ERASURE_ALONE);
  const { DomesticPaymentId: running } = (await good(pay(env, await authorised(env)), 201)).Data;
  await pass(env, 205);
  assertEquals(await work(env), 0);
  const left = async (): Promise<number> => (await recordsLeft(env)).length;
  assertEquals(await left(), 1);
  assertEquals(await work(env), 0);
  await good(putStatus(env, env.bankA, running, "AcceptedSettlementCompleted"), 200);
  await pass(env, 20);
  assertEquals(await work(env), 0, "its newest entry is too young");
  for (let days = 0; days < 179; days += 20) { // less than a search that begins anew
    await pass(env, 20);
    await work(env);
  }
  assertEquals(await left(), 0);
  assert(!(await recordsOf(env, [running])).some((key) => key.startsWith("evidence/")));
});

async function recordsLeft(env: Environment): Promise<readonly string[]> {
  return (await env.raw.list({ prefix: ["retention_left"], limit: 100 })).map(({ key }) => key.join("/"));
}

Deno.test("a case whose id is before those that a search has passed is found within 30 days [EN13]", async () => {
  await using env = await openRetaining(undefined, { ...ERASURE_ALONE, PLATFORM_ERASE_CASES_DAYS: "100" });
  await settled(env);
  await pass(env, 95);
  assertEquals(await work(env), 0);
  const scan = await env.raw.get<Record<string, unknown>>(["retention_scan", "evidence"]);
  const value = { ...scan?.value, passed: "ffffffff-ffff-7fff-bfff-ffffffffffff" }; // as if its id were dated years back
  await env.raw.commit({ checks: [], writes: [{ kind: "set", key: ["retention_scan", "evidence"], value }] });
  await pass(env, 10);
  assertEquals(await work(env), 0);
  await pass(env, 20);
  assertEquals(await work(env), 1);
});

Deno.test("a deleted case leaves nothing in the list of what the search has left [EN14]", async () => {
  await using env = await openRetaining();
  const { consentId } = await settled(env);
  await pass(env, 201);
  assertEquals(await work(env), 1);
  await pass(env, 90);
  assertEquals(await work(env), 0);
  await pass(env, 10);
  assertEquals(await work(env), 1);
  await work(env);
  assertEquals(await recordsLeft(env), []);
  assertEquals(await recordsOf(env, [consentId]), []);
});
