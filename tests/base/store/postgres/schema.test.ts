/** Which databases a program opens: of its own schema, program and address, and no other. */
import { assertEquals, assertRejects } from "@std/assert";
import { type Connections, openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { checkPostgres } from "../../../../src/base/store/postgres/check_postgres.ts";
import { openPostgres } from "../../../../src/base/store/postgres/open_postgres.ts";
import { migrate, MIGRATIONS, SCHEMA } from "../../../../src/base/store/postgres/schema.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { storeIdentityKey } from "../../../../src/base/store/store_identity.ts";
import { newPostgresDatabase, postgresServer, test } from "support/postgres.ts";

const OWNER = { program: "platform", issuer: "https://auth.example" } as const;

async function change(url: string, work: (connections: Connections) => Promise<unknown>): Promise<void> {
  const connections = await openConnections(readPostgresUrl(url));
  await work(connections);
  await connections.close();
}

/** Records a migration that a later version of the program has applied. */
async function upgrade(url: string, worksFrom: number): Promise<void> {
  await change(
    url,
    (connections) =>
      connections.run((sql) =>
        sql`insert into hub.migration (number, name, works_from) values (${
          SCHEMA + 1
        }, 'later', ${worksFrom})`
      ),
  );
}

test(
  "A database without the schema, or with one that this program does not know, is refused [G10]",
  async () => {
    const empty = await postgresServer().newDatabase();
    await assertRejects(
      () => openPostgres(empty, OWNER),
      Error,
      "has no schema; run deno task store migrate",
    );

    const newer = await newPostgresDatabase();
    await upgrade(newer, SCHEMA + 1);
    await assertRejects(
      () => openPostgres(newer, OWNER),
      Error,
      `this one is for ${SCHEMA}; run a newer version`,
    );

    const older = await newPostgresDatabase();
    await change(older, (connections) => connections.run((sql) => sql`delete from hub.migration`));
    await change(
      older,
      (connections) =>
        connections.run((sql) =>
          sql`insert into hub.migration (number, name, works_from) values (0, 'none', 0)`
        ),
    );
    await assertRejects(() => openPostgres(older, OWNER), Error, "run deno task store migrate");
  },
);

test("A program of the version before goes on with a schema that says so [G10]", async () => {
  const url = await newPostgresDatabase();
  await upgrade(url, SCHEMA);
  const store = await openPostgres(url, OWNER);
  await store.close();
});

test("Two migrations at once apply each step once, and a third finds nothing to do", async () => {
  const url = await postgresServer().newDatabase();
  const open = (): Promise<Connections> => openConnections(readPostgresUrl(url));
  const both = await Promise.all([open(), open()]);
  const applied = await Promise.all(both.map(migrate));
  assertEquals(applied.flat().length, SCHEMA);
  for (const connections of both) await connections.close();
  await change(url, async (connections) => assertEquals(await migrate(connections), []));
});

test("A migration of a database with entries keeps them, and reports them [G13]", async () => {
  const url = await postgresServer().newDatabase();
  await change(url, (connections) =>
    connections.run(async (sql) => {
      await sql`create schema hub`;
      await sql.unsafe(MIGRATIONS[0]?.sql ?? "");
      await sql.unsafe(`create table hub.migration (number integer primary key, name text not null,
        works_from integer not null, applied_at timestamptz not null default now());
        insert into hub.migration values (1, 'entry', 1)`);
    }));
  await change(url, async (connections) => {
    const store = openPostgresStore(connections);
    const [key, value] = [["payment", "p1"], { bank: "BANKA", charges: [] }] as const;
    const expiresAt = Date.now() + 60_000;
    await store.commit({ checks: [], writes: [{ kind: "set", key, value, expiresAt }] });
    const before = await store.get(key);
    await migrate(connections);
    assertEquals(await store.get(key), before);
    const rows = await connections.run((sql) =>
      sql`select bank, charges, expires_at from reporting.payment, hub.entry_payment`
    );
    assertEquals([...rows], [{ bank: "BANKA", charges: 0, expires_at: new Date(expiresAt) }]);
    const oldest = await connections.run((sql) => sql`select works_from from hub.migration order by number`);
    assertEquals(oldest.map(({ works_from }) => works_from), [1, 1, 1]); // programs of the first schema go on
  });
});

test("Two processes that start at once on a new database agree on its identity", async () => {
  const url = await newPostgresDatabase();
  const stores = await Promise.all([openPostgres(url, OWNER), openPostgres(url, OWNER)]);
  const identities = await Promise.all(stores.map((store) => store.get(storeIdentityKey)));
  assertEquals(identities[0], identities[1]);
  for (const store of stores) await store.close();
});

test(
  "A database of another program or address is refused, and the message has no password",
  async () => {
    const url = (await newPostgresDatabase()).replace("postgres@", "postgres:hidden@");
    await (await openPostgres(url, OWNER)).close();
    const directory = { program: "directory", issuer: OWNER.issuer } as const;
    const { message } = await assertRejects(
      () => openPostgres(url, directory),
      Error,
      "belongs to a platform",
    );
    assertEquals(message.includes("hidden"), false);
    const other = { ...OWNER, issuer: "https://other.example" };
    await assertRejects(
      () => openPostgres(url, other),
      Error,
      "belongs to the platform at https://auth.example",
    );
  },
);

test("A server that is not there, or refuses the user, is named in one sentence", async () => {
  const url = await newPostgresDatabase();
  const { port } = new URL(url);
  await assertRejects(
    () => openPostgres(url.replace(port, "1"), OWNER),
    Error,
    "cannot be used: connect ECONNREFUSED",
  );
  const stranger = url.replace("postgres@", "stranger@");
  await assertRejects(() => openPostgres(stranger, OWNER), Error, 'role "stranger" does not exist');
});

test(
  "A check before the start names a role that lacks one of the rights to write, and finds the time",
  async () => {
    const url = await newPostgresDatabase();
    const found = await checkPostgres(url, OWNER, () => Date.now() + 60_000);
    assertEquals(found.detail, `${url}, schema ${SCHEMA}`);
    assertEquals(Math.round(found.aheadMs / 10_000), -6);
    const reader = url.replace("//postgres@", "//reader@");
    const run = (statement: string): Promise<void> =>
      change(url, (connections) => connections.run((sql) => sql.unsafe(statement)));
    await run("create role reader login; grant usage on schema hub to reader");
    for (const rights of ["select", "insert", "update"]) {
      await run(`grant ${rights} on all tables in schema hub to reader`);
      await assertRejects(
        () => checkPostgres(reader, OWNER, Date.now),
        Error,
        "the role may not write hub.entry; it needs hub_process",
      );
    }
    await run("grant delete on all tables in schema hub to reader");
    assertEquals((await checkPostgres(reader, OWNER, Date.now)).detail, `${reader}, schema ${SCHEMA}`);
  },
);
