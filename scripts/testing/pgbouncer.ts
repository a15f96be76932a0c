/** PgBouncer and HAProxy of packaging/pgbouncer on loopback ports of a test's own. */
import { areInstalled } from "./installed.ts";
import { type Companion, startAsServer } from "./postgres_node.ts";
import { freePort } from "../command_line/free_ports.ts";
import { waitForListener } from "./waiting.ts";

const [PGBOUNCER, HAPROXY] = ["/usr/sbin/pgbouncer", "/usr/sbin/haproxy"] as const;
const EXAMPLES = new URL("../../packaging/pgbouncer/", import.meta.url);

/** Whether both are installed. */
export function isPgbouncerThere(): boolean {
  return areInstalled(PGBOUNCER, HAPROXY);
}

/** A program that listens. */
export interface Listening {
  readonly port: number;
  readonly program: Companion;
}

/** Files of PgBouncer's TLS and passwords, by what the example calls them. */
export type Secured = Readonly<
  Record<"userlist.txt" | "localhost.pem" | "localhost.key.pem" | "db-ca.pem", string>
>;

/**
 * Starts PgBouncer in front of a server.
 *
 * @param folder of the server's user
 * @param secured with a password alone, clients need no TLS and no password; it is the superuser's at the server
 * @throws {Error} with its log if it does not listen
 */
export async function startPgbouncer(
  folder: string,
  server: number,
  secured: Secured | { readonly password: string },
): Promise<Listening> {
  const port = freePort();
  const user = "password" in secured ? ` user=postgres password='${secured.password}'` : "";
  let text = (await Deno.readTextFile(new URL("pgbouncer.ini", EXAMPLES)))
    .replace(/^hub = .*\nhub_keys = .*$/m, `* = host=127.0.0.1 port=${server}${user}`)
    .replace(/^listen_port = .*$/m, `listen_port = ${port}\nunix_socket_dir =`);
  if ("password" in secured) {
    text = text.replace(/^(?:auth_file|client_tls_\w+|server_tls_\w+) = .*\n/gm, "")
      .replace(/^auth_type = .*$/m, "auth_type = any\nserver_tls_sslmode = require");
  } else {
    for (const [name, path] of Object.entries(secured)) text = text.replace(RegExp(`/\\S*/${name}`), path);
  }
  const file = `${folder}/pgbouncer-${port}.ini`;
  await Deno.writeTextFile(file, text);
  return await listening(port, startAsServer(PGBOUNCER, [file], `${file}.log`), `${file}.log`);
}

/** Starts HAProxy, which leads to the primary among these servers. @throws {Error} with its log if it does not listen */
export async function startPrimaryProxy(
  folder: string,
  servers: readonly { readonly port: number; readonly restPort: number }[],
): Promise<Listening> {
  const port = freePort();
  const lines = servers.map((one, index) =>
    `    server db${index + 1} 127.0.0.1:${one.port} port ${one.restPort}`
  );
  const text = (await Deno.readTextFile(new URL("haproxy.cfg", EXAMPLES)))
    .replace("127.0.0.1:5000", `127.0.0.1:${port}`)
    .replace(/(?: {4}server .*\n)+/, `${lines.join("\n")}\n`);
  const file = `${folder}/primary.cfg`;
  await Deno.writeTextFile(file, text);
  return await listening(port, startAsServer(HAPROXY, ["-db", "-f", file], `${file}.log`), `${file}.log`);
}

async function listening(port: number, program: Companion, log: string): Promise<Listening> {
  try {
    await waitForListener(port, { log });
  } catch (error) {
    await program.end();
    throw error;
  }
  return { port, program };
}
