/** How the platform reads the directory's status list, and what it does without it (Decisions A9, G5). */
import { assert, assertEquals } from "@std/assert";
import { FAILURES, forUrls, serving, setOrganisation, STATUS_URL } from "../../support/directory_network.ts";
import { type Json, requestToken } from "../../../scripts/testing/flows.ts";
import { BOUND_MS } from "../../support/standing.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

const isList = ({ href }: URL): boolean => href === STATUS_URL;

async function tokenStatus(world: World): Promise<number> {
  const answer = await requestToken(world, world.tpp);
  await answer.body?.cancel();
  return answer.status;
}

/** How often the list was asked for since the last time. */
function listFetches(world: World): number {
  const count = world.fetched.filter((url) => url === STATUS_URL).length;
  world.fetched.length = 0;
  return count;
}

/** The directory's list with its entries replaced. */
async function relist(world: World, change: (entries: Json[]) => Json[]): Promise<void> {
  const { participants } = await (await world.directory.fetch(new Request(STATUS_URL))).json();
  const text = JSON.stringify({ participants: change(participants) });
  world.network = forUrls(world, isList, serving(text));
  world.now += BOUND_MS;
}

Deno.test("the status list is asked for every 10 s by background work, by requests only if that does not run [G5]", async (t) => {
  await using world = await openWorld();
  await tokenStatus(world);
  listFetches(world);
  await t.step("background work, a pass a second", async () => {
    for (let second = 0; second < 60; second++) {
      world.now += 1000;
      await world.platform.followDirectory();
      assertEquals(await tokenStatus(world), 200);
    }
    assertEquals(listFetches(world), 6);
  });
  await t.step("requests alone, one a second", async () => {
    for (let second = 0; second < 60; second++) {
      world.now += 1000;
      assertEquals(await tokenStatus(world), 200);
    }
    assertEquals(listFetches(world), 4); // after 13 s each time
  });
});

Deno.test("the status list is asked for on condition that it has changed, and 304 is as good as the list [G5] [A9]", async () => {
  await using world = await openWorld();
  await tokenStatus(world);
  const statuses: number[] = [];
  world.network = async (request) => {
    const answer = await world.directory.fetch(request);
    if (request.url === STATUS_URL) statuses.push(answer.status);
    return answer;
  };
  for (let time = 0; time < 100; time++) {
    world.now += 14_000; // 1400 s: longer than any copy is trusted
    assertEquals(await tokenStatus(world), 200);
  }
  assertEquals(statuses, Array(100).fill(304));
  await setOrganisation(world, world.bankA, "Suspended");
  world.now += BOUND_MS;
  assertEquals([await tokenStatus(world), statuses.at(-1)], [400, 200]);
});

Deno.test("no request waits for a directory that is down: the last list holds for 900 s [G5] [A9]", async (t) => {
  await using world = await openWorld();
  await tokenStatus(world);
  const gate = Promise.withResolvers<Response>();
  await t.step("the first one finds out", async () => {
    world.network = forUrls(world, isList, FAILURES["unreachable"]?.() ?? world.network);
    world.now += BOUND_MS;
    assertEquals(await tokenStatus(world), 200);
  });
  await t.step("then none waits, though it is being asked", async () => {
    world.network = forUrls(world, isList, () => gate.promise);
    world.now += 10_000;
    const asking = world.platform.followDirectory();
    assertEquals(await tokenStatus(world), 200);
    gate.reject(new TypeError("connection refused"));
    await asking;
  });
  await t.step("until the list is 900 s old", async () => {
    world.now += 900_000 - BOUND_MS - 10_000;
    assertEquals(await tokenStatus(world), 200);
    world.now += 1;
    assertEquals(await tokenStatus(world), 503);
  });
});

Deno.test("a list from before the clock was set back is asked for again, and not believed without [G5] [A9]", async (t) => {
  await using world = await openWorld();
  world.now += 3_600_000;
  assertEquals(await tokenStatus(world), 200);
  await setOrganisation(world, world.bankA, "Suspended");
  world.now -= 3_600_000;
  await t.step("the directory answers", async () => {
    assertEquals(await tokenStatus(world), 400);
  });
  await t.step("the directory is down", async () => {
    world.network = FAILURES["unreachable"]?.() ?? world.network;
    world.now -= 1000;
    assertEquals(await tokenStatus(world), 503);
  });
});

Deno.test("a list of 20,000 participants is read, one of more than 8 MiB is not [G5]", async (t) => {
  await using world = await openWorld();
  await tokenStatus(world);
  const strangers = Array.from({ length: 20_000 }, (_, index): Json => ({
    org_id: `ORG-${String(index).padStart(20, "0")}`,
    org_status: "Active",
    software_client_id: `SC-${crypto.randomUUID()}`,
    software_client_status: "Active",
    version: 1,
    statement_issued_at: 1_893_456_000,
  }));
  await t.step("20,000", async () => {
    await relist(world, (entries) => {
      const suspended = entries.map((entry) =>
        entry.org_id === "BANKA" ? { ...entry, org_status: "Suspended", version: 99 } : entry
      );
      return [...strangers, ...suspended];
    });
    assertEquals(await tokenStatus(world), 400);
  });
  await t.step("more than 8 MiB: the last list holds", async () => {
    await relist(world, (entries) => [...entries, "x".repeat(8_388_608)]);
    assertEquals(await tokenStatus(world), 400);
    assert(
      world.logged.some((line) => line.includes("status_list_unavailable") && line.includes("too large")),
    );
  });
});

const TPP_ENTRIES: Readonly<Record<string, (entry: Json) => Json[]>> = {
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
  Deno.test(`a TPP that is ${name} is not active, and others are [G5]`, async () => {
    await using world = await openWorld();
    await relist(
      world,
      (entries) =>
        entries.flatMap((entry) => entry.software_client_id === world.tpp.clientId ? change(entry) : [entry]),
    );
    assertEquals(await tokenStatus(world), 401);
    assertEquals((await requestToken(world, world.otherTpp)).status, 200);
  });
}
