/** How many deadlines the sweeper handles, in which commits, and what a consent that fails does to others [STA-01, CT12]. */
import { assert, assertEquals } from "@std/assert";
import { type LogLine, present } from "testing/answers.ts";
import {
  type ConsentStore,
  type Deadline,
  openConsentStore,
} from "../../../../src/platform/core/consents/consent_store.ts";
import {
  sweepConsents,
  type SweepConsentsDeps,
} from "../../../../src/platform/core/consents/sweep_consents.ts";
import { type Consent } from "../../../../src/platform/core/consents/consent.ts";
import { historyOf } from "../../../../src/platform/evidence/audit_trail.ts";
import { readRatePolicies } from "../../../../src/platform/config/rate_policies.ts";
import { consentDeadlineKey, consentKey } from "../../../../src/platform/config/store_keys.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Commit, Entry, Store } from "../../../../src/base/store/store.ts";
import { asConsentId, type ConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { clientToken, createConsent } from "testing/flows.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { anotherProcess, openRacedStore } from "support/processes.ts";

/** TPPs that all create consents at their limit: far more than one process can serve. */
const TPPS = 20;
const DAY_MS = 86_400_000;

Deno.test("one pass handles more deadlines than 20 TPPs may cause in a second, in short commits [STA-01, CT12]", async () => {
  const store = await watchedStore();
  await using env = await openEnvironment({ store });
  const perSecond = TPPS * (readRatePolicies("")?.consents.perSecond ?? NaN);
  const ids = await openConsents(env, 2 * perSecond);
  env.now += DAY_MS;
  store.staged.length = 0;
  assertEquals(await env.platform.sweepConsents(), ids.length);
  assertEquals(await env.store.list({ prefix: ["consent_deadline"], limit: 1 }), []);
  // A commit of a hundred writes takes the storage thread a few milliseconds: requests do not wait longer.
  const sizes = store.staged.map(({ writes }) => writes.length);
  assert(Math.max(...sizes) <= 100, `${Math.max(...sizes)} writes in one commit`);
  assert(sizes.length <= ids.length / 10, `${sizes.length} commits for ${ids.length} consents`);
});

Deno.test("a consent that cannot be written keeps no other back and is logged; it is handled once it can be [STA-01, CT12]", async () => {
  const store = await watchedStore();
  await using env = await openEnvironment({ store });
  const ids = await openConsents(env, 45); // four batches
  const broken = present(ids[3]);
  store.failing = broken;
  env.now += DAY_MS;
  assertEquals(await env.platform.sweepConsents(), 44);
  assertEquals(await unswept(env, ids), [broken]);
  const logged = env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ level }) =>
    level === "error"
  );
  const told = logged.map(({ event, consentId, error }) => [event, consentId, String(error).split("\n")[0]]);
  assertEquals(told, [["consent.not_expired", broken, "Error: the value is too large"]]);
  delete store.failing;
  assertEquals([await env.platform.sweepConsents(), await unswept(env, ids)], [1, []]);
});

Deno.test("a consent that changes while its batch is swept keeps its change; the others are Rejected, each once [STA-01, CT16]", async () => {
  const store = await watchedStore();
  await using env = await openEnvironment({ store });
  const ids = await openConsents(env, 20);
  const changed = present(ids[7]);
  env.now += DAY_MS;
  store.beforeCommit = async () => {
    delete store.beforeCommit;
    const entry = present(await env.store.get<Consent>(consentKey(changed)));
    await env.store.commit({
      checks: [],
      writes: [{ kind: "set", key: entry.key, value: { ...entry.value, status: "Consumed" } }],
    });
  };
  await env.platform.sweepConsents();
  await env.platform.sweepConsents();
  assertEquals((await stored(env, changed)).value.status, "Consumed");
  for (const id of ids.filter((id) => id !== changed)) {
    assertEquals((await stored(env, id)).value.status, "Rejected");
    const history = await historyOf(env.store, id);
    assertEquals(history.filter(({ actor }) => actor === "clock").length, 1);
  }
  assertEquals(await env.store.list({ prefix: ["consent_deadline"], limit: 1 }), []);
});

Deno.test("a batch that loses every race, and its deadline alone too, is handled by the next pass [STA-01, CT16]", async () => {
  const store = await watchedStore();
  await using env = await openEnvironment({ store });
  const [id] = await openConsents(env, 1);
  env.now += DAY_MS;
  store.staged.length = 0;
  const writeFirst = async (): Promise<void> => {
    delete store.beforeCommit;
    const { key, value } = await stored(env, present(id));
    await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
    store.beforeCommit = writeFirst;
  };
  store.beforeCommit = writeFirst;
  assertEquals(await env.platform.sweepConsents(), 0);
  assertEquals(store.staged.filter(({ checks }) => checks.length > 0).length, 2 * 8);
  delete store.beforeCommit;
  assertEquals(await env.platform.sweepConsents(), 1);
});

Deno.test("three processes that begin at once handle 600 deadlines, each once, and lose less than one commit for ten deadlines [STA-01, CT12, M1]", async () => {
  const store = await openRacedStore();
  await using env = await openEnvironment({ store });
  const ids = await openConsents(env, 600);
  const others = [await anotherProcess(env), await anotherProcess(env)];
  env.now += DAY_MS;
  store.commits = store.lost = 0;
  const handled = await Promise.all([env.platform, ...others].map((platform) => platform.sweepConsents()));
  assertEquals(handled.reduce((sum, count) => sum + count), ids.length);
  assertEquals(await unswept(env, ids), []);
  const entries = await env.store.list<{ actor: string }>({ prefix: ["audit"], limit: 5000 });
  assertEquals(entries.filter(({ value }) => value.actor === "clock").length, ids.length);
  assert(store.lost < ids.length / 10, `${store.lost} commits were lost`);
  assert(store.commits - store.lost < ids.length / 10, `${store.commits} commits`);
  await Promise.all(others.map((platform) => platform.stop()));
});

Deno.test("a pass reads 25 pages of 200 deadlines, each after the one before, and handles fourteen in a commit [STA-01]", async () => {
  const deadlines = Array.from({ length: 5200 }, (_, index) => ({
    key: ["consent_deadline", String(index).padStart(4, "0")],
    consentId: present(asConsentId(crypto.randomUUID())),
  }));
  for (const [length, pages] of [[5200, 25], [400, 3], [399, 2], [0, 1]] as const) {
    const [asked, gone]: [unknown[], number[]] = [[], []];
    await using store = await openTestStore();
    const consents: Partial<ConsentStore> = {
      deadlinesBefore(now, limit, after) {
        asked.push([now, after?.key[1]]);
        const from = after === undefined ? 0 : Number(after.key[1]) + 1;
        return Promise.resolve(deadlines.slice(from, Math.min(length, from + limit)));
      },
      find: () => Promise.resolve(null),
      standsDeadline: () => Promise.resolve(true),
      stageDeadlineGone: (tx, { key }) => void tx.writes.push({ kind: "delete", key }),
    };
    const commit: Store["commit"] = ({ writes }) => Promise.resolve(gone.push(writes.length) > 0);
    const deps: unknown = { store: { ...store, commit }, clock: () => 7, random: () => 0, consents };
    const handled = await sweepConsents(deps as SweepConsentsDeps);
    const expected = Array.from({ length: pages }, (_, page) => [7, deadlines[200 * page - 1]?.key[1]]);
    assertEquals([handled, asked], [Math.min(length, 5000), expected]);
    const batches = Math.floor(Math.min(length, 5000) / 200);
    assertEquals(gone.filter((writes) => writes === 14).length, 14 * batches + Math.floor(length % 200 / 14));
  }
});

Deno.test("deadlines are read up to a time, earliest first, and after one of them [STA-01]", async () => {
  await using env = await openEnvironment();
  const ids = [1, 2, 3, 4].map((digit) =>
    present(asConsentId(`00000000-0000-7000-8000-00000000000${digit}`))
  );
  await env.store.commit({
    checks: [],
    writes: ids.map((id, at) => ({ kind: "set", key: consentDeadlineKey(10 * at, id), value: id })),
  });
  const consents = openConsentStore(env.store, DAY_MS, () => {}, () => {});
  const read = async (now: number, limit: number, after?: Deadline): Promise<readonly number[]> =>
    (await consents.deadlinesBefore(now, limit, after)).map(({ consentId }) => ids.indexOf(consentId));
  const [first] = await consents.deadlinesBefore(20, 1);
  assertEquals([await read(20, 9), await read(19, 9), await read(30, 2)], [[0, 1, 2], [0, 1], [0, 1]]);
  assertEquals([await read(30, 9, first), await read(30, 2, first)], [[1, 2, 3], [1, 2]]);
});

/** An in-memory store whose commits can be watched, made to fail for one consent, and overtaken. */
interface WatchedStore extends Store {
  readonly staged: Commit[];
  failing?: ConsentId;
  beforeCommit?: () => Promise<void>;
}

async function watchedStore(): Promise<WatchedStore> {
  const store = await openTestStore();
  const watched: WatchedStore = {
    ...store,
    staged: [],
    async commit(commit: Commit): Promise<boolean> {
      const { failing } = watched;
      if (failing !== undefined && commit.writes.some(({ key }) => key.includes(failing))) {
        throw new Error("the value is too large");
      }
      watched.staged.push(commit);
      await watched.beforeCommit?.();
      return await store.commit(commit);
    },
  };
  return watched;
}

/** Consents that await authorisation, equal to one that a TPP created but for their ids. */
async function openConsents(env: Environment, count: number): Promise<readonly ConsentId[]> {
  const { Data } = await createConsent(env, await clientToken(env, env.tpp));
  const { value: model } = await stored(env, present(asConsentId(Data.ConsentId)));
  const copies = Array.from({ length: count - 1 }, () => present(asConsentId(crypto.randomUUID())));
  while (true) {
    const batch = copies.slice(0, 400);
    const writes = copies.splice(0, 400).flatMap((id) => [
      { kind: "set" as const, key: consentKey(id), value: { ...model, id } },
      { kind: "set" as const, key: consentDeadlineKey(model.authoriseBy, id), value: id },
    ]);
    if (batch.length === 0) break;
    await env.store.commit({ checks: [], writes });
  }
  const deadlines = await env.store.list<ConsentId>({ prefix: ["consent_deadline"], limit: count + 1 });
  assertEquals(deadlines.length, count);
  return deadlines.map(({ value }) => value);
}

async function unswept(env: Environment, ids: readonly ConsentId[]): Promise<readonly ConsentId[]> {
  const entries = await Promise.all(ids.map((id) => stored(env, id)));
  return entries.filter(({ value }) => value.status !== "Rejected").map(({ value }) => value.id);
}

async function stored(env: Environment, id: ConsentId): Promise<Entry<Consent>> {
  return present(await env.store.get<Consent>(consentKey(id)));
}
