/** The storage contract on PostgreSQL. */
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { migrate } from "../../../../src/base/store/postgres/schema.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { openPostgresServer } from "../../../../scripts/testing/postgres_server.ts";
import { testStore } from "../store_contract.ts";

const server = await openPostgresServer();
testStore({
  name: "PostgreSQL",
  async open() {
    const connections = await openConnections(readPostgresUrl(await server.newDatabase()));
    await migrate(connections);
    return openPostgresStore(connections);
  },
});
Deno.test.afterAll(async () => await server[Symbol.asyncDispose]());
