/**
 * Two cells behind one proxy: a process and a PostgreSQL server each. Clients register at the home cell, and their
 * registrations are replicated as docs/operations/cells.md says.
 */
import { assertEquals } from "@std/assert";
import postgres from "postgres";
import { authorised } from "testing/authorization_flow.ts";
import { call, clientToken, good, pay, requestToken } from "testing/flows.ts";
import { BASE_URL } from "testing/environment.ts";
import { signJwt } from "testing/jwts.ts";
import { registrationClaims } from "testing/participants.ts";
import { migrated, openPostgresServer } from "testing/postgres_server.ts";
import { isPostgresMissing } from "support/postgres.ts";
import { openProxiedEnvironment, type ProxiedEnvironment } from "support/proxied_environment.ts";
import { findProxy } from "support/proxy_program.ts";
import { forgetSharedTokens } from "testing/shared_token.ts";

const CELLS = ["home", "eu"] as const;
const DOCUMENT = new URL("../../../../docs/operations/cells.md", import.meta.url);

for (const { name, program } of await Promise.all([findProxy("haproxy"), findProxy("nginx")])) {
  Deno.test({
    name:
      `Two cells behind ${name} share registrations and nothing else, and one goes on without the other [DC21]`,
    ignore: isPostgresMissing || program === undefined,
    async fn() {
      await using home = await openPostgresServer({ fsync: "off", wal_level: "logical" });
      await using other = await openPostgresServer({ fsync: "off" });
      const urls = [await migrated(await home.newDatabase()), await migrated(await other.newDatabase())];
      const keys = [await migrated(await home.newDatabase()), await migrated(await other.newDatabase())];
      await replicate(urls[0] ?? "", urls[1] ?? "");
      await using env = await openProxiedEnvironment(name, program ?? "", {
        count: CELLS.length,
        variables: { PLATFORM_CELLS: "eu=BANKB", PLATFORM_ENVIRONMENT: "Sandbox" },
        cells: CELLS.map((cell, index) => ({
          PLATFORM_CELL: cell,
          PLATFORM_STORE_URL: urls[index] ?? "",
          PLATFORM_DATA_KEYS_STORE: keys[index] ?? "",
        })),
      });
      await untilKnown(env);

      const paid = [await payment(env, env.bankA), await payment(env, env.bankB)];
      assertEquals(await Promise.all(urls.map(consents)), [[paid[0]], [paid[1]]]);

      // A request that reaches the wrong cell finds no such bank there, and registration is at home alone.
      const [atHome, atOther] = env.backendPorts.map((port) => `http://127.0.0.1:${port}`);
      assertEquals(await Promise.all([linkAt(atHome, "BANKA"), linkAt(atHome, "BANKB")]), [400, 404]);
      assertEquals(await Promise.all([linkAt(atOther, "BANKA"), linkAt(atOther, "BANKB")]), [404, 400]);
      assertEquals(await Promise.all([atHome, atOther].map(registrationAt)), [401, 404]);

      if (name === "haproxy") await deleteAndRegister(env); // whichever proxy it is

      // The home cell's process goes on with what needs no database, such as the platform's keys.
      const [pid] = (await Deno.readTextFile(`${home.folder}/data/postmaster.pid`)).split("\n");
      Deno.kill(Number(pid), "SIGKILL");
      await payment(env, env.bankB);
    },
  });
}

/** Runs the statements of the document in the database that each is for. */
async function replicate(home: string, other: string): Promise<void> {
  const text = await Deno.readTextFile(DOCUMENT);
  const [publication = "", subscription = ""] = [...text.matchAll(/```sql\n([^]*?)```/g)].map(([, sql]) =>
    sql
  );
  const { port, pathname } = new URL(home);
  const connection = `host=127.0.0.1 port=${port} user=postgres dbname=${pathname.slice(1)}`;
  await execute(home, publication);
  await execute(other, subscription.replace(/'host=[^']*'/, `'${connection}'`));
}

async function execute(url: string, statement: string): Promise<unknown[]> {
  const sql = postgres(url.replace(/\?.*/, ""), { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** The TPP's deletion reaches the other cell, and its token there stays invalid after a new registration [DC23]. */
async function deleteAndRegister(env: ProxiedEnvironment): Promise<void> {
  const { tpp, bankA, bankB } = env;
  const [own, there] = [await clientToken(env, tpp, bankA.orgId), await clientToken(env, tpp, bankB.orgId)];
  const read = (): Promise<number> =>
    statusOf(call(env, tpp, there, `/${bankB.orgId}/domestic-payment-consents/v1/${crypto.randomUUID()}`));
  assertEquals(await read(), 400, "a consent that does not exist");
  const path = `/register/v1/${tpp.clientId}`;
  assertEquals(await statusOf(call(env, tpp, own, path, { method: "DELETE" })), 204);
  await until("the deletion", async () => await read() === 401);
  const registration = new Request(`${BASE_URL}/register/v1`, {
    method: "POST",
    headers: { "content-type": "application/jose" },
    body: await signJwt(tpp.signing, registrationClaims(env, tpp)),
  });
  assertEquals(await statusOf(env.api(registration, tpp)), 201);
  forgetSharedTokens(env);
  const newToken = (): Promise<Response> => requestToken(env, tpp, bankB.orgId);
  await until("the registration", async () => await statusOf(newToken()) === 200);
  assertEquals(await read(), 401);
}

async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await isThere()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`not replicated: ${what}`);
}

/** Waits until the registrations have arrived at the other cell. */
async function untilKnown(env: ProxiedEnvironment): Promise<void> {
  const other = `http://127.0.0.1:${env.backendPorts[1]}`;
  await until("the registrations", async () => await linkAt(other, "BANKB") !== 404);
}

/** The status of a faulty link at a process: 400 if it knows the bank. */
async function linkAt(origin: string | undefined, bank: string): Promise<number> {
  return await statusOf(fetch(`${origin}/${bank}/authorization.oauth2?client_id=x&request_uri=x`));
}

/** The status of a registration without a certificate. */
async function registrationAt(origin: string | undefined): Promise<number> {
  const headers = { "content-type": "application/jose" };
  return await statusOf(fetch(`${origin}/register/v1`, { method: "POST", headers, body: "x" }));
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const { status, body } = await answer;
  await body?.cancel();
  return status;
}

/** Pays at a bank; returns the consent's id. */
async function payment(env: ProxiedEnvironment, bank: ProxiedEnvironment["bankA"]): Promise<string> {
  const flow = await authorised(env, { bank });
  await good(pay(env, flow), 201);
  return flow.consentId;
}

/** The ids of the consents in a database. */
async function consents(url: string): Promise<unknown[]> {
  const rows = await execute(
    url,
    "select value ->> 'id' as id from hub.entry where key > 'consent\\000' and key < 'consent\\000\\377'",
  );
  return rows.map((row) => (row as { id: unknown }).id);
}
