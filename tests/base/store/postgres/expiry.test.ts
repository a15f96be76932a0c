/** Expired entries are deleted after commits, by every process, and no others are. */
import { assertEquals } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import type { Store, Write } from "../../../../src/base/store/store.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";
import { waitUntil } from "testing/waiting.ts";

const HOUR_MS = 3_600_000;

function entries(count: number, expiresAt: number): Write[] {
  return Array.from(
    { length: count },
    () => ({ kind: "set", key: ["e", crypto.randomUUID()], value: 1, expiresAt }),
  );
}

async function countOf(store: Store): Promise<number> {
  return (await store.list({ prefix: ["e"], limit: 10_000 })).length;
}

test("Processes that commit delete what has expired, more than one statement takes, and nothing else", async () => {
  const url = await newPostgresDatabase();
  const stores = await Promise.all(
    [1, 2].map(async () => openPostgresStore(await openConnections(readPostgresUrl(url)))),
  );
  const [first, second] = stores;
  if (first === undefined || second === undefined) throw new Error("two were opened");
  const kept = entries(5, Date.now() + HOUR_MS);
  await first.commit({ checks: [], writes: [...entries(2500, Date.now() - HOUR_MS), ...kept] });
  await second.commit({ checks: [], writes: [{ kind: "set", key: ["other"], value: 1 }] });
  await waitUntil("expired entries are deleted", async () => await countOf(first) === kept.length);
  assertEquals(await countOf(first), kept.length);
  for (const store of stores) await store.close();
});
