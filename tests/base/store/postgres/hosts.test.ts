/** Several hosts in one URL: the one that takes statements is used, in whatever order they are. */
import { assert, assertEquals } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { openPostgresServer } from "testing/postgres_server.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";

Deno.test({
  name: "A host that refuses the connection is passed over: reads and commits at once do not notice",
  ignore: isPostgresMissing,
  async fn() {
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
  },
});
