/** The platform sends nothing to a database whose certificate or host name it cannot verify. */
import { assertEquals, assertRejects } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { StoreFailure } from "../../../../src/base/store/store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { openTlsPostgresServer } from "testing/postgres_tls.ts";
import { selfSignedAuthority } from "testing/web_authority.ts";
import { testKey } from "testing/keys.ts";
import { postgresServer, test } from "support/postgres.ts";

async function isEncrypted(url: string): Promise<boolean | undefined> {
  const connections = await openConnections(readPostgresUrl(url));
  try {
    const [row] = await connections.run((sql) =>
      sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
    );
    return row?.ssl;
  } finally {
    await connections.close();
  }
}

test("A database is used if its certificate is of the authority and names the host of the URL, and no other [G10]", async (t) => {
  await using named = await openTlsPostgresServer(["localhost"]);
  await using renamed = await openTlsPostgresServer(["other.example"]);
  const folder = await Deno.makeTempDir();
  const other = `${folder}/other.pem`;
  await Deno.writeTextFile(other, (await selfSignedAuthority("CN=Other", await testKey(9))).certificatePem);
  const url = (hosts: string, authority = named.authority): string =>
    `postgres://postgres@${hosts}/postgres?sslrootcert=${authority}`;
  const [right, wrong] = [`localhost:${named.port}`, `localhost:${renamed.port}`];

  await t.step("the host's own", async () => assertEquals(await isEncrypted(url(right)), true));
  await t.step(
    "a second host",
    async () => assertEquals(await isEncrypted(url(`${wrong},${right}`)), true),
  );
  const refused: Readonly<Record<string, string>> = {
    "a certificate of another authority": url(right, other),
    "a certificate of an authority that the computer does not know": url(right).replace(/\?.*/, ""),
    "a certificate for another name": url(wrong),
    "no TLS": url(`localhost:${postgresServer().port}`),
  };
  for (const [name, refusedUrl] of Object.entries(refused)) {
    await t.step(name, async () => void await assertRejects(() => isEncrypted(refusedUrl), StoreFailure));
  }
  await Deno.remove(folder, { recursive: true });
});
