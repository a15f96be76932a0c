/** A primary and its synchronous standby: commits that were answered survive the loss of the primary, and new ones go on. */
import { assert, assertEquals } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { openPostgresPair } from "testing/postgres_pair.ts";
import { migrated } from "testing/postgres_server.ts";
import { test } from "support/postgres.ts";

test("A failover loses no answered commit, reports none as its own conflict, and the new standby guards the next one", async () => {
  await using pair = await openPostgresPair();
  const settings = readPostgresUrl(await migrated(await pair.newDatabase())); // the standby is the first host
  const store = openPostgresStore(await openConnections(settings));
  try {
    assertEquals(await store.waitsForStandby?.(), true);
    const answered: string[] = [];
    let runs = true;
    const write = async (worker: number): Promise<void> => {
      for (let number = 0; runs; number++) {
        const key = ["claim", `${worker}`, `${number}`];
        const claim = {
          checks: [{ key, version: null }],
          writes: [{ kind: "set" as const, key, value: 1 }],
        };
        assert(await store.commit(claim), `${key.join("/")} was reported as a conflict`);
        answered.push(key.join("/"));
      }
    };
    const workers = Array.from({ length: 8 }, (_, worker) => write(worker));
    const more = async (): Promise<void> => {
      const before = answered.length;
      while (answered.length < before + 100) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    for (let failover = 0; failover < 2; failover++) {
      await more();
      await pair.killPrimary();
      await pair.promote();
      await more();
      assertEquals(await store.waitsForStandby?.(), false, "the promoted server waits for none");
      await pair.rebuildStandby();
      assertEquals(await store.waitsForStandby?.(), true);
    }
    runs = false;
    await Promise.all(workers);
    const stored = await store.list({ prefix: ["claim"], limit: 100_000 });
    assertEquals(new Set(stored.map(({ key }) => key.join("/"))), new Set(answered));
  } finally {
    await store.close();
  }
});
