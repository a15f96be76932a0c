/**
 * PostgreSQL's recovery to a point in time, with the commands of docs/operations/postgresql.md: a base backup, an archive, a
 * second server, the mark, and a platform that goes on.
 */
import { assertEquals } from "@std/assert";
import { storeCommand } from "../../scripts/operators/store/main.ts";
import { authorised } from "../../scripts/testing/authorization_flow.ts";
import { openEnvironment } from "../../scripts/testing/environment.ts";
import { call, clientToken, good, pay, requestToken } from "../../scripts/testing/flows.ts";
import { giveToServer, postgresPrograms, runAsServer } from "testing/postgres_node.ts";
import { FAST, openPostgresServer, recoverPostgresServer } from "testing/postgres_server.ts";
import { type Connections, openConnections, UNHURRIED } from "../../src/base/store/postgres/connections.ts";
import { readPostgresUrl } from "../../src/base/store/postgres/settings.ts";
import { openMovingStore } from "support/moving_store.ts";
import { test } from "support/postgres.ts";
import { endHolds } from "support/restored_store.ts";
import { waitUntil } from "testing/waiting.ts";

const command = (...args: string[]): Promise<string> =>
  storeCommand(args, { storeUrl: undefined, now: Date.now() });

async function connected<T>(url: string, work: (connections: Connections) => Promise<T>): Promise<T> {
  const connections = await openConnections(readPostgresUrl(url), UNHURRIED);
  try {
    return await work(connections);
  } finally {
    await connections.close();
  }
}

/** Returns the first column of the first row. */
async function ask(url: string, text: string): Promise<string> {
  return await connected(url, async ({ run }) => {
    const [row] = await run((sql) => sql.unsafe<{ answer: string }[]>(`select (${text})::text as answer`));
    return row?.answer ?? "";
  });
}

/** As the page writes a time. */
const FORM_OF_PAGE = 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"';

/** The settings of the page, with the folder of the archive and the time. */
async function targetOfPage(folder: string, time: string): Promise<string> {
  const page = await Deno.readTextFile(new URL("../../docs/operations/postgresql.md", import.meta.url));
  const [, settings = ""] = /postgresql\.auto\.conf <<'EOF'\n(.*?)EOF/s.exec(page) ?? [];
  return settings.replace("/backup/wal", folder).replace("<time>", time);
}

/** Also waits for the server to become a primary, because connections are made to no other. */
function until(url: string, condition: string): Promise<void> {
  return waitUntil(condition, async () => await ask(url, condition).catch(() => "") === "true");
}

test("a database recovered to a point in time has each payment of before, and begins a new epoch [G9]", async () => {
  const folder = await Deno.makeTempDir();
  await giveToServer(folder);
  const archive = { archive_mode: "on", archive_command: `test ! -f ${folder}/%f && cp %p ${folder}/%f` };
  await using server = await openPostgresServer({ ...FAST, ...archive });
  const database = await server.newDatabase();
  await command("migrate", "--at", database);
  const store = await openMovingStore(database);
  await using env = await openEnvironment({ store });
  const payment = async (): Promise<string> =>
    (await good(pay(env, await authorised(env)), 201)).Data.DomesticPaymentId;

  const ofBackup = await payment();
  const backup = [
    "-D",
    `${folder}/base`,
    "-c",
    "fast",
    "-h",
    "127.0.0.1",
    "-p",
    `${server.port}`,
    "-U",
    "postgres",
  ];
  await runAsServer(`${postgresPrograms()}/pg_basebackup`, backup);
  const ofArchive = await payment();
  const time = await ask(database, `to_char(clock_timestamp() at time zone 'UTC', '${FORM_OF_PAGE}')`);
  const lost = await payment();
  const token = await clientToken(env, env.tpp);
  const segment = await ask(database, "pg_walfile_name(pg_switch_wal())");
  await until(database, `select last_archived_wal >= '${segment}' from pg_stat_archiver`);

  await using recovered = await recoverPostgresServer(
    `${folder}/base`,
    await targetOfPage(folder, time),
  );
  const copy = database.replace(String(server.port), String(recovered.port));
  await store.move(env, async () => {
    await until(copy, "not pg_is_in_recovery()");
    await command("restored", "--at", copy, "--taken-at", new Date(env.now).toISOString());
    return copy;
  });

  const read = (id: string, bound = token): Promise<number> =>
    call(env, env.tpp, bound, `/BANKA/domestic-payments/v1/${id}`).then(({ status }) => status);
  assertEquals(await read(ofBackup), 401, "tokens of before are void");
  assertEquals((await requestToken(env, env.tpp)).status, 503, "held until it is reconciled");
  await endHolds(env);
  const fresh = await clientToken(env, env.tpp);
  assertEquals([await read(ofBackup, fresh), await read(ofArchive, fresh), await read(lost, fresh)], [
    200,
    200,
    400,
  ]);
  await env.platform.stop();
  await store.close();
  await Deno.remove(folder, { recursive: true });
});
