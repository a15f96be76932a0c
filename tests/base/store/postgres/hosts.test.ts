/** Several hosts in one URL: the one that takes statements is used, in whatever order they are. */
import { assert, assertEquals } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { schemaFault } from "../../../../src/base/store/postgres/schema.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { openPostgresServer } from "testing/postgres_server.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";

test("A host that refuses the connection is passed over: reads and commits at once do not notice", async () => {
  await using refusing = await openPostgresServer(); // it does not have the database
  const url = await newPostgresDatabase();
  const hosts = `127.0.0.1:${refusing.port},127.0.0.1:`;
  const store = openPostgresStore(await openConnections(readPostgresUrl(url.replace("127.0.0.1:", hosts))));
  try {
    const keys = Array.from({ length: 30 }, (_, index) => ["key", `${index}`]);
    assertEquals(await store.getMany(keys), keys.map(() => null));
    const done = await Promise.all(
      keys.map((key) => store.commit({ checks: [], writes: [{ kind: "set", key, value: 1 }] })),
    );
    assert(done.every(Boolean));
    const read = await Promise.all(keys.map((key) => store.get(key)));
    assertEquals(read.map((entry) => entry?.value), keys.map(() => 1));
  } finally {
    await store.close();
  }
});

test("A host that does not answer is waited for once, not by each connection: so a commit is in time [M1]", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Deno.TcpConn[] = [];
  const accepting = (async (): Promise<void> => {
    for await (const connection of silent) accepted.push(connection);
  })();
  const url = await newPostgresDatabase();
  const hosts = `127.0.0.1:${silent.addr.port},127.0.0.1:`;
  const connections = await openConnections(readPostgresUrl(url.replace("127.0.0.1:", hosts)));
  assertEquals(
    await schemaFault(connections),
    undefined,
    "a process starts, whose first statement is not repeated",
  );
  const [store, key] = [openPostgresStore(connections), ["key"]];
  assertEquals(await store.commit({ checks: [], writes: [{ kind: "set", key, value: 1 }] }), true);
  assertEquals((await store.get(key))?.value, 1);
  assertEquals(accepted.length, 1);
  await store.close();
  silent.close();
  await accepting;
  for (const connection of accepted) connection.close();
});
