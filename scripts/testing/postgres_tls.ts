/** A PostgreSQL server with a certificate of the tests' authority for web servers. */
import { giveToServer, type Settings } from "./postgres_node.ts";
import { openPostgresServer, type PostgresServer } from "./postgres_server.ts";
import { serverIdentity, webAuthority } from "./web_authority.ts";

export interface TlsPostgresServer extends PostgresServer {
  /** File with the authority's certificate. */
  readonly authority: string;
}

/**
 * Opens a server.
 *
 * @param hosts names in its certificate
 */
export async function openTlsPostgresServer(
  hosts: readonly string[],
  settings: Settings = {},
): Promise<TlsPostgresServer> {
  const folder = await Deno.makeTempDir({ prefix: "postgres-tls-" });
  await Deno.chmod(folder, 0o755);
  const { certificatePem, privateKeyPem } = await serverIdentity(hosts);
  const [certificate, key, authority] = [`${folder}/cert.pem`, `${folder}/key.pem`, `${folder}/ca.pem`];
  await Deno.writeTextFile(certificate, certificatePem);
  await Deno.writeTextFile(key, privateKeyPem, { mode: 0o600 });
  await Deno.writeTextFile(authority, (await webAuthority()).certificatePem);
  await giveToServer(key);
  const server = await openPostgresServer({
    ...settings,
    ssl: "on",
    ssl_cert_file: certificate,
    ssl_key_file: key,
  });
  return {
    ...server,
    authority,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
