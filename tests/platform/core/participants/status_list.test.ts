/** How the platform reads the directory's status list, and what it does without it (Decisions A9, G5). */
import { assert, assertEquals } from "@std/assert";
import { FAILURES, forUrls, serving, setOrganisation, STATUS_URL } from "support/directory_network.ts";
import type { ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { because, ok, type Reason, type Result } from "../../../../src/base/kernel/result.ts";
import type { Fetched } from "../../../../src/platform/core/participants/guarded_fetch.ts";
import { openLog } from "../../../../src/base/observability/log.ts";
import { keepCopies } from "../../../../src/platform/core/participants/kept_copy_store.ts";
import { openStatusList } from "../../../../src/platform/core/participants/status_list.ts";
import { openTestStore } from "testing/test_store.ts";
import { bodyOf } from "testing/answers.ts";
import type { StatusList } from "testing/directory_answers.ts";
import { requestToken, tokenStatus } from "testing/flows.ts";
import { BOUND_MS } from "support/standing.ts";
import { testWith } from "support/environment_test.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";

const test = testWith(() => openEnvironment({ registersItself: true }));

const isList = ({ href }: URL): boolean => href === STATUS_URL;

/** How often the list was asked for since the last time. */
function listFetches(env: Environment): number {
  const count = env.fetched.filter((url) => url === STATUS_URL).length;
  env.fetched.length = 0;
  return count;
}

type Entry = Readonly<Record<string, unknown>>;

/** The directory's list with its entries replaced. */
async function relist(env: Environment, change: (entries: Entry[]) => unknown[]): Promise<void> {
  const { participants } = await bodyOf<StatusList>(env.directory.fetch(new Request(STATUS_URL)));
  const text = JSON.stringify({ participants: change(participants) });
  env.network = forUrls(env, isList, serving(text));
  env.now += BOUND_MS;
}

test("the status list is asked for every 10 s by background work, by requests only if that does not run [G5]", async ({ env, t }) => {
  await tokenStatus(env);
  listFetches(env);
  await t.step("background work, a pass a second", async () => {
    for (let second = 0; second < 60; second++) {
      env.now += 1000;
      await env.platform.followDirectory();
      assertEquals(await tokenStatus(env), 200);
    }
    assertEquals(listFetches(env), 6);
  });
  await t.step("requests alone, one a second", async () => {
    for (let second = 0; second < 60; second++) {
      env.now += 1000;
      assertEquals(await tokenStatus(env), 200);
    }
    assertEquals(listFetches(env), 4); // after 13 s each time
  });
});

test("the status list is asked for on condition that it has changed, and 304 is as good as the list [G5] [A9]", async ({ env }) => {
  await tokenStatus(env);
  const statuses: number[] = [];
  env.network = async (request) => {
    const answer = await env.directory.fetch(request);
    if (request.url === STATUS_URL) statuses.push(answer.status);
    return answer;
  };
  for (let time = 0; time < 100; time++) {
    env.now += 14_000; // 1400 s: longer than any copy is trusted
    assertEquals(await tokenStatus(env), 200);
  }
  assertEquals(statuses, Array(100).fill(304));
  await setOrganisation(env, env.bankA, "Suspended");
  env.now += BOUND_MS;
  assertEquals([await tokenStatus(env), statuses.at(-1)], [400, 200]);
});

test("no request waits for a directory that is down: the last list holds for 900 s [G5] [A9]", async ({ env, t }) => {
  await tokenStatus(env);
  const gate = Promise.withResolvers<Response>();
  await t.step("the first one finds out", async () => {
    env.network = forUrls(env, isList, FAILURES["unreachable"]?.() ?? env.network);
    env.now += BOUND_MS;
    assertEquals(await tokenStatus(env), 200);
  });
  await t.step("then none waits, though it is being asked", async () => {
    env.network = forUrls(env, isList, () => gate.promise);
    env.now += 10_000;
    const asking = env.platform.followDirectory();
    assertEquals(await tokenStatus(env), 200);
    gate.reject(new TypeError("connection refused"));
    await asking;
  });
  await t.step("until the list is 900 s old", async () => {
    env.now += 900_000 - BOUND_MS - 10_000;
    assertEquals(await tokenStatus(env), 200);
    env.now += 1;
    assertEquals(await tokenStatus(env), 503);
  });
});

test("a list of 20,000 participants is read, one of more than 8 MiB is not [G5]", async ({ env, t }) => {
  await tokenStatus(env);
  const outsiders = Array.from({ length: 20_000 }, (_, index): Entry => ({
    org_id: `ORG-${String(index).padStart(20, "0")}`,
    org_status: "Active",
    software_client_id: `SC-${crypto.randomUUID()}`,
    software_client_status: "Active",
    version: 1,
    statement_issued_at: 1_893_456_000,
  }));
  await t.step("20,000", async () => {
    await relist(env, (entries) => {
      const suspended = entries.map((entry) =>
        entry.org_id === "BANKA" ? { ...entry, org_status: "Suspended", version: 99 } : entry
      );
      return [...outsiders, ...suspended];
    });
    assertEquals(await tokenStatus(env), 400);
  });
  await t.step("more than 8 MiB: the last list holds", async () => {
    await relist(env, (entries) => [...entries, "x".repeat(8_388_608)]);
    assertEquals(await tokenStatus(env), 400);
    assert(env.logged.some((line) => line.includes("status_list_unavailable") && line.includes("too large")));
  });
});

const SOFTWARE: Readonly<Record<string, string>> = {
  ONE: "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
  TWO: "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a12",
};

Deno.test("an organisation is known by the copy in memory, else by the list, which may be empty from the first [G5]", async () => {
  const store = await openTestStore();
  const logged: string[] = [];
  const log = openLog({ clock: () => 0, sink: (line) => void logged.push(line), level: "warn" });
  let now = 0;
  let listed: readonly string[] = [];
  const list = openStatusList({
    fetchIfChanged: () => {
      const participants = listed.map((id): Entry => ({
        org_id: id,
        org_status: "Active",
        software_client_id: SOFTWARE[id],
        software_client_status: "Active",
        version: 1,
        statement_issued_at: 1,
      }));
      return Promise.resolve(ok({ unchanged: false, value: { participants }, etag: undefined }));
    },
    ages: () => now,
    keep: keepCopies({ store, clock: () => now, log }),
    log,
    url: STATUS_URL,
  });
  const known = async (): Promise<unknown> => [
    await Promise.all(["ONE", "TWO"].map((id) => list.hasOrganisation(id))),
    await Promise.all(["ONE", "TWO"].map((id) => list.softwareOf(id))),
  ];
  assertEquals(await known(), [[false, false], [[], []]]);
  now += BOUND_MS;
  assertEquals(await known(), [[false, false], [[], []]]);
  assertEquals([logged, list.failingSeconds()], [[], undefined]);
  listed = ["ONE", "TWO"];
  now += BOUND_MS;
  assertEquals(await known(), [[true, true], [[SOFTWARE["ONE"]], [SOFTWARE["TWO"]]]]);
  listed = ["TWO"];
  now += BOUND_MS;
  assertEquals(await list.hasOrganisation("THREE"), false); // asks for the list
  assertEquals(await known(), [[false, true], [[], [SOFTWARE["TWO"]]]]);
  assertEquals(logged, []);
  await store.close();
});

/** What the directory says of a software. */
function entryOf(index: number, changes: Entry = {}): Entry {
  return {
    org_id: `ORG${index}`,
    org_status: "Active",
    software_client_id: `${SOFTWARE["ONE"]?.slice(0, -2)}${index + 11}`,
    software_client_status: "Active",
    version: 1,
    statement_issued_at: 7,
    ...changes,
  };
}

/** A list whose answers and clock the test sets, with what was asked and logged. */
async function watchedList() {
  const store = await openTestStore();
  const [asked, logged]: [unknown[], unknown[]] = [[], []];
  const sink = (line: string): void => {
    const { event, level, url, why } = JSON.parse(line) as Entry;
    logged.push([level, event, url, why]);
  };
  const log = openLog({ clock: () => 0, sink, level: "warn" });
  const state = { now: 0, answer: because("down") as Result<Fetched, Reason> };
  const open = () =>
    openStatusList({
      fetchIfChanged: (url, condition) => {
        asked.push([url, condition]);
        return Promise.resolve(state.answer);
      },
      ages: () => state.now,
      keep: keepCopies({ store, clock: () => state.now, log }),
      log,
      url: STATUS_URL,
    });
  const says = (participants: unknown, etag?: string): void => {
    state.answer = ok({ unchanged: false, value: { participants }, etag });
  };
  return { state, store, asked, logged, open, says };
}

const idOf = (index: number): ClientId => entryOf(index)["software_client_id"] as ClientId;

Deno.test("what the list says of each pair of statuses, kept as well as fetched, without entries that are none [G5]", async () => {
  const { state, store, open, says } = await watchedList();
  const statuses = ["Active", "Withdrawn", "Revoked", "Suspended"];
  const pairs = statuses.flatMap((org_status) =>
    statuses.map((software_client_status) => ({ org_status, software_client_status }))
  );
  const faulty = [
    null,
    entryOf(20, { software_client_id: "SC-1" }),
    entryOf(21, { org_id: 5 }),
    entryOf(22, { version: 1.5 }),
    entryOf(23, { statement_issued_at: "7" }),
    ...[1, 2, 3].map((version) => entryOf(24, { version })),
  ];
  says([...pairs.map((pair, index) => entryOf(index, { ...pair, version: index })), ...faulty]);
  const expected = [
    ...["active", "suspended", "withdrawn", "suspended"],
    ...Array(4).fill("withdrawn"),
    ...["suspended", "suspended", "withdrawn", "suspended"],
    ...["suspended", "suspended", "withdrawn", "suspended"],
  ].map((standing, index) => ({
    clientId: idOf(index),
    orgId: `ORG${index}`,
    standing,
    version: index,
    statementIssuedAt: 7,
  }));
  const all = Array.from({ length: 25 }, (_, index) => idOf(index));
  for (const answer of [state.answer, because("down")]) {
    state.answer = answer;
    const list = open();
    await list.refresh();
    const found = await Promise.all(all.map((id) => list.find(id)));
    assertEquals(found, [...expected, ...Array(9).fill(undefined)] as typeof found);
    assertEquals(all.map((id) => list.peek(id)), found);
  }
  await store.close();
});

Deno.test("the list is asked for by its tag, at its times, and what changed is told [G5] [A9]", async () => {
  const { state, store, asked, logged, open, says } = await watchedList();
  const list = open();
  const maxBytes = 8_388_608;
  const changes = async (): Promise<readonly string[]> => (await list.refresh()).map(({ orgId }) => orgId);
  state.answer = ok({ unchanged: true });
  assertEquals(await changes(), []);
  says([entryOf(0), entryOf(1)], '"1"');
  state.now += 1000;
  assertEquals(await changes(), [], "the first list");
  for (const [at, count] of [[12_999, 2], [13_999, 2], [14_000, 3]] as const) {
    state.now = at;
    state.answer = ok({ unchanged: true });
    await list.find(idOf(0));
    assertEquals(asked.length, count, `${at} ms, by a request`);
  }
  says([entryOf(0), entryOf(1, { version: 2 }), entryOf(2)], '"2"');
  state.now = 23_999;
  assertEquals([await changes(), asked.length], [[], 3]);
  state.now = 24_000;
  assertEquals([await changes(), asked.length], [["ORG1", "ORG2"], 4]);
  says([entryOf(0, { version: 9 })], '"3"');
  state.now = 34_000;
  await list.find(idOf(7)); // a request fetches it first
  assertEquals([await changes(), asked.length], [["ORG0"], 5]);
  for (const participants of [[], "none"]) {
    says(participants, '"4"');
    state.now += 10_000;
    assertEquals([await changes(), list.peek(idOf(0))?.version], [[], 9]);
  }
  state.answer = because("down");
  state.now += 10_000;
  assertEquals([await changes(), list.failingSeconds()], [[], 30]);
  const tags = [undefined, undefined, '"1"', '"1"', '"2"', '"3"', '"3"', '"3"'];
  assertEquals(asked, tags.map((etag) => [STATUS_URL, { etag, maxBytes }]));
  const unavailable = "participants.status_list_unavailable";
  assertEquals(logged, [
    ["warn", unavailable, STATUS_URL, "304 without a copy"],
    ["error", "participants.status_list_emptied", STATUS_URL, undefined],
    ["warn", unavailable, STATUS_URL, "no status list"],
    ["warn", unavailable, STATUS_URL, "down"],
  ]);
  await store.close();
});

const TPP_ENTRIES: Readonly<Record<string, (entry: Entry) => unknown[]>> = {
  "not listed": () => [],
  "listed twice": (entry) => [entry, entry],
  "listed under another organisation": (entry) => [{ ...entry, org_id: "OTHER" }],
  "listed without a status": ({ org_status: _, ...entry }) => [entry],
  "listed with an unknown status": (entry) => [{ ...entry, software_client_status: "active" }],
  "listed with a status that is no text": (entry) => [{ ...entry, org_status: true }],
  "listed with a version that is no number": (entry) => [{ ...entry, version: "1" }],
  "listed among what is no entry": (
    entry,
  ) => [null, 1, "Active", [], {}, { ...entry, org_status: "Suspended" }],
};

for (const [name, change] of Object.entries(TPP_ENTRIES)) {
  test(`a TPP that is ${name} is not active, and others are [G5]`, async ({ env }) => {
    await relist(
      env,
      (entries) =>
        entries.flatMap((entry) => entry.software_client_id === env.tpp.clientId ? change(entry) : [entry]),
    );
    assertEquals(await tokenStatus(env), 401);
    assertEquals((await requestToken(env, env.otherTpp)).status, 200);
  });
}
