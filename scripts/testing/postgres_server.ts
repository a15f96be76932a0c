/**
 * A PostgreSQL server of a test's own: on a loopback port, in a temporary folder. It ends with the test, or with the
 * process that started it.
 */
import postgres from "postgres";

export interface PostgresServer {
  readonly port: number;
  /** The folder with its data and its log. */
  readonly folder: string;
  /** Makes an empty database. Returns its URL. */
  newDatabase(): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Runs `$@` until its own standard input ends, so that no server outlives the process that started it. */
const UNTIL_INPUT_ENDS = '"$@" & pid=$!; cat >/dev/null; kill -INT $pid 2>/dev/null; wait $pid';

/** The folder of PostgreSQL's programs on this computer, or undefined. Debian keeps them out of the search path. */
export function postgresPrograms(): string | undefined {
  const folders = [...installed("/usr/lib/postgresql")].sort((one, other) => Number(other) - Number(one));
  const [newest] = folders.filter((version) => Number(version) >= 15);
  return newest === undefined ? undefined : `/usr/lib/postgresql/${newest}/bin`;
}

function* installed(folder: string): Iterable<string> {
  try {
    for (const { name } of Deno.readDirSync(folder)) yield name;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Settings that a test may change, as in postgresql.conf. Nothing is flushed to the disk by default. */
export type Settings = Readonly<Record<string, string>>;

export const FAST: Settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/** @throws {Error} if PostgreSQL is not installed or does not start */
export async function openPostgresServer(settings: Settings = FAST): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("PostgreSQL 15 or newer is not installed");
  const folder = await Deno.makeTempDir({ prefix: "postgres-" });
  await giveToServer(folder);
  await runAsServer(`${programs}/initdb`, [
    "-D",
    `${folder}/data`,
    "-U",
    USER,
    "-A",
    "trust",
    "-N",
    "-E",
    "UTF8",
    "--locale=C",
  ]);
  return await startServer(programs, folder, settings);
}

/**
 * Starts another server from a base backup that is a folder of the server's user.
 *
 * @param configuration lines of its postgresql.auto.conf, which say how far the archive is applied
 */
export async function recoverPostgresServer(backup: string, configuration: string): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("PostgreSQL 15 or newer is not installed");
  const folder = await Deno.makeTempDir({ prefix: "postgres-" });
  await giveToServer(folder);
  await runAsServer("cp", ["-a", backup, `${folder}/data`]);
  await Deno.writeTextFile(`${folder}/data/postgresql.auto.conf`, configuration, { append: true });
  await runAsServer("touch", [`${folder}/data/recovery.signal`]);
  return await startServer(programs, folder, FAST);
}

const USER = "postgres";

async function startServer(programs: string, folder: string, settings: Settings): Promise<PostgresServer> {
  const port = freePort();
  const options = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: String(port),
    logging_collector: "off",
    shared_buffers: "64MB",
    ...settings,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [program = "", ...args] = asServer(`${programs}/postgres`, ["-D", `${folder}/data`, ...options]);
  const log = `${folder}/log`;
  const child = new Deno.Command("bash", {
    args: ["-c", `exec 2>"${log}" >&2; ${UNTIL_INPUT_ENDS}`, "postgres", program, ...args],
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const admin = postgres({
    host: "127.0.0.1",
    port,
    username: USER,
    database: "postgres",
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
  const stop = async (): Promise<void> => {
    await admin.end({ timeout: 1 });
    await child.stdin.close();
    await child.status;
    await Deno.remove(folder, { recursive: true });
  };
  try {
    await untilReady(() => admin`select 1`, log);
  } catch (error) {
    await stop();
    throw error;
  }
  let count = 0;
  return {
    port,
    folder,
    async newDatabase() {
      const name = `test${++count}`;
      await admin.unsafe(`create database ${name}`);
      return `postgres://${USER}@127.0.0.1:${port}/${name}?sslmode=disable`;
    },
    [Symbol.asyncDispose]: stop,
  };
}

async function untilReady(ask: () => Promise<unknown>, log: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await ask().then(() => true, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`PostgreSQL did not start: ${await Deno.readTextFile(log).catch(() => "no log")}`);
}

/** PostgreSQL refuses to run as root. Debian's package adds a user for it. */
function asServer(program: string, args: readonly string[]): readonly string[] {
  if (Deno.uid() !== 0) return [program, ...args];
  return ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", program, ...args];
}

/** Gives a file or folder to the user that the server runs as. */
export async function giveToServer(folder: string): Promise<void> {
  if (Deno.uid() === 0) await run("chown", [USER, folder]);
}

/** Runs a program as the user that the server runs as. @throws {Error} with what it printed */
export async function runAsServer(program: string, args: readonly string[]): Promise<void> {
  const [command = "", ...rest] = asServer(program, args);
  await run(command, rest);
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args], cwd: "/" }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
