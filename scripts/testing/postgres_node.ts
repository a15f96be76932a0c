/** One PostgreSQL process over a folder: started, killed, and stopped. It ends with the process that started it. */
import postgres from "postgres";
import { waitUntil } from "./waiting.ts";

export interface PostgresNode {
  readonly port: number;
  /** A connection to the database `postgres`, as its administrator. */
  readonly admin: postgres.Sql;
  /** `kill -9` of the server and of all its processes, as when a machine loses its power. The folder stays. */
  kill(): Promise<void>;
  /** Ends the server in good order. The folder stays. */
  stop(): Promise<void>;
}

/** Settings that a test may change, as in postgresql.conf. */
export type Settings = Readonly<Record<string, string>>;

export interface NodeOptions {
  /** See {@link postgresPrograms}. */
  readonly programs: string;
  /** The folder with the server's data. */
  readonly data: string;
  /** The file for the server's log. */
  readonly log: string;
  readonly port: number;
  readonly settings: Settings;
}

/** The administrator, and the system's user that the server runs as if the test runs as root. */
export const USER = "postgres";

/** Runs `$@` until its own standard input ends, so that no server outlives the process that started it. */
const UNTIL_INPUT_ENDS = '"$@" & pid=$!; cat >/dev/null; kill -INT $pid 2>/dev/null; wait $pid';

/** Runs `$@`, and sends it the signal that comes on the standard input, or SIGTERM when that ends. */
const UNTIL_SIGNALLED =
  'exec >>"$0" 2>&1; "$@" & pid=$!; read -r signal || signal=TERM; kill -$signal $pid 2>/dev/null; wait $pid';

/** The server and its children. One that has ended by itself is no failure. */
const KILL_ALL =
  'pid=$(head -n 1 "$1"); kill -9 $pid $(cat /proc/$pid/task/$pid/children) 2>/dev/null || true';

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

/** Makes an empty server's folder, where every connection from this computer is trusted. */
export async function initialise(programs: string, data: string): Promise<void> {
  const options = ["-U", USER, "-A", "trust", "-N", "-E", "UTF8", "--locale=C"];
  await runAsServer(`${programs}/initdb`, ["-D", data, ...options]);
}

/** @throws {Error} with the server's log if it does not start */
export async function startNode({ programs, data, log, port, settings }: NodeOptions): Promise<PostgresNode> {
  const options = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: String(port),
    logging_collector: "off",
    shared_buffers: "64MB",
    ...settings,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [program = "", ...args] = asServer(`${programs}/postgres`, ["-D", data, ...options]);
  const child = new Deno.Command("bash", {
    args: ["-c", `exec 2>>"${log}" >&2; ${UNTIL_INPUT_ENDS}`, "postgres", program, ...args],
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
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await admin.end({ timeout: 1 });
    await child.stdin.close();
    await child.status;
  };
  const stop = (): Promise<void> => ended ??= end();
  try {
    const isReady = (): Promise<boolean> => admin`select 1`.then(() => true, () => false);
    await waitUntil("PostgreSQL starts", isReady, { log });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    admin,
    stop,
    async kill() {
      await killServer(data);
      await stop();
    },
  };
}

/** `kill -9` of the server over a folder and of all its processes. */
export async function killServer(data: string): Promise<void> {
  await succeed(["bash", "-c", KILL_ALL, "kill", `${data}/postmaster.pid`]);
}

/** A program that ends with this process. */
export interface Companion {
  /** Sends the signal and waits for the end. */
  end(signal?: "TERM" | "KILL"): Promise<void>;
}

/** Starts a program as the server's user. */
export function startAsServer(program: string, args: readonly string[], log: string): Companion {
  return startCompanion(asServer(program, args), log);
}

/** Starts a program; both outputs go to the file `log`, and its folder is its home. */
export function startCompanion(command: readonly string[], log: string): Companion {
  const child = new Deno.Command("bash", {
    args: ["-c", UNTIL_SIGNALLED, log, ...command],
    cwd: "/",
    env: { HOME: log.replace(/\/[^/]*$/, "") },
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let ended: Promise<void> | undefined;
  const end = async (signal: string): Promise<void> => {
    const input = child.stdin.getWriter();
    await input.write(new TextEncoder().encode(`${signal}\n`)).catch(() => {}); // it has ended by itself
    await input.close().catch(() => {});
    await child.status;
  };
  return { end: (signal = "TERM") => ended ??= end(signal) };
}

/** Gives a folder to the user that the server runs as. */
export async function giveToServer(folder: string): Promise<void> {
  if (Deno.uid() === 0) await succeed(["chown", USER, folder]);
}

/** Runs one of PostgreSQL's programs to its end. @throws {Error} with its error output if it fails */
export async function runAsServer(program: string, args: readonly string[]): Promise<void> {
  await succeed(asServer(program, args));
}

/** PostgreSQL refuses to run as root. Debian's package adds a user for it. */
function asServer(program: string, args: readonly string[]): readonly string[] {
  if (Deno.uid() !== 0) return [program, ...args];
  return ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", program, ...args];
}

async function succeed([program = "", ...args]: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, cwd: "/" }).output();
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
