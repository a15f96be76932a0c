/**
 * `deno task directory`: the standalone participants directory, plain HTTP behind a TLS proxy, with a public listener
 * and one for administrators. It does not start if the configuration is incomplete or unsafe, and lists every problem.
 * After the start the process can neither write files nor read the environment.
 */
import { openListener } from "../../base/http/deno_listener.ts";
import type { Handle, Listener } from "../../base/http/listener.ts";
import { credentialFile } from "../../base/http/credential_file.ts";
import { ADMINISTRATORS, openCredentials, type WatchedFile } from "../../base/http/credentials.ts";
import { openFilesFaults } from "../../base/http/open_files.ts";
import { onHangUp, stopSignal } from "../../base/http/stop_signal.ts";
import { systemClock } from "../../base/kernel/clock.ts";
import { CommandLineFault, exitStatusOf } from "../../base/kernel/command_line_fault.ts";
import { openLog } from "../../base/observability/log.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import { openLogQueue } from "../../base/observability/log_queue.ts";
import { requireAgreement, runChecks } from "../../base/observability/preflight.ts";
import { checkStore } from "../../base/store/check_store.ts";
import { openStore } from "../../base/store/open_store.ts";
import type { Store } from "../../base/store/store.ts";
import { composeDirectory, type DirectoryApp } from "./compose_directory.ts";
import {
  DIRECTORY_VARIABLES,
  type DirectoryConfig,
  DirectoryConfigError,
  type Listen,
  readDirectoryConfig,
  requireOwnKeys,
} from "./config.ts";
import { fileFaults, type FileModes } from "../config/file_modes.ts";
import type { Signer } from "../../base/http/signer_client.ts";
import { openStatementKeys, type RenewableStatementKeys } from "../statements/statement_keys.ts";

/** The file that `--env-file` reads. */
const ENVIRONMENT_FILE = ".env";
/** Running requests may take this long to end. */
const DRAIN_MS = 10_000;

/** Time to write the queued log lines to standard output at the end. */
const FLUSH_MS = 2000;

const output = openLogQueue({ clock: systemClock, write: (bytes) => Deno.stdout.write(bytes) });
const log: DirectoryLog = openLog({ clock: systemClock, sink: output.sink, level: "info" });

async function start(): Promise<void> {
  const config = await readConfig();
  const store = await openStoreBesideFreePorts(config);
  const statementKeys = await openStatementKeys(config.signingKeys, systemClock, config.signer);
  watchSigner(config.signer);
  const app = await composeDirectory({
    ...config,
    administrators: openCredentials(
      ADMINISTRATORS,
      administratorsFile(config.administratorsFile),
      systemClock,
    ),
    statementKeys,
    store,
    clock: systemClock,
    loopbackRedirects: config.environment === "Sandbox",
    log,
  });
  await giveUpPermissions(config);
  onHangUp(() => renewKeys(statementKeys, config));
  const reminders = app.reminders?.start();
  await serve(app, config);
  await reminders?.stop();
  await store.close();
  log.info("directory.stopped");
}

async function readConfig(): Promise<DirectoryConfig> {
  return await readDirectoryConfig({
    env: Object.fromEntries(DIRECTORY_VARIABLES.map((name) => [name, Deno.env.get(name)])),
    readFile: (path) => Deno.readTextFile(path),
    modesOf,
    now: systemClock(),
    elsewhere: await environmentFileFaults(),
  });
}

/** `deno task directory --check`: examines what a start needs and changes nothing. Returns whether every check passed. */
async function check(): Promise<boolean> {
  const print = (line: string): number => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  const config = await readConfig().catch((error: Error) => error);
  if (config instanceof Error) return await runChecks({ configuration: () => Promise.reject(config) }, print);
  const { environment, issuer, storeUrl } = config;
  return await runChecks({
    configuration: () => `${environment}, ${issuer}`,
    keys: async () =>
      `signs with ${(await openStatementKeys(config.signingKeys, systemClock, config.signer)).signer.kid}`,
    database: async () => {
      const { detail, aheadMs } = await checkStore(storeUrl, { program: "directory", issuer }, systemClock);
      return aheadMs === undefined
        ? detail
        : `${detail}; ${requireAgreement("the clock of the server", aheadMs)}`;
    },
  }, print);
}

async function serve(app: DirectoryApp, config: DirectoryConfig): Promise<void> {
  const { listen, adminListen, maxConnections, issuer, environment } = config;
  const open = (address: Listen, handle: Handle): Listener =>
    openListener({
      ...address,
      maxConnections,
      log,
      handle,
      onError: failedAnswer,
      onStopping: stoppingAnswer,
    });
  const listeners = [
    open(listen, (request, remote) => app.publicFetch(request, remote.hostname)),
    open(adminListen, (request) => app.adminFetch(request)),
  ];
  const stopping = stopSignal({
    log,
    program: "directory",
    drainMs: DRAIN_MS,
    flush: () => output.flush(FLUSH_MS),
  });
  const [host, admin] = [listen, adminListen].map(({ hostname, port }) => `${hostname}:${port}`);
  const address = `${config.console.url}/console`;
  log.info("directory.started", { listen: host, adminListen: admin, console: address, issuer, environment });
  await stopping;
  await Promise.all(listeners.map((listener) => listener.stop()));
}

/** The directory answers its own errors; this is for errors outside its handler. */
function failedAnswer(error: unknown): Response {
  log.error("directory.failed", { error: String(error instanceof Error ? error.stack : error) });
  return answer(500, "server_error", "Something went wrong here.");
}

function stoppingAnswer(): Response {
  return answer(503, "temporarily_unavailable", "The directory is stopping.", {
    "retry-after": "5",
    connection: "close",
  });
}

function answer(status: number, error: string, description: string, headers: HeadersInit = {}): Response {
  const response = Response.json({ error, error_description: description }, { status, headers });
  response.headers.set("cache-control", "no-store");
  return response;
}

/** @throws {DirectoryConfigError} naming the ports that are in use and the store that cannot be opened */
async function openStoreBesideFreePorts(config: DirectoryConfig): Promise<Store> {
  const faults = [
    ...openFilesFaults("DIRECTORY_MAX_CONNECTIONS", 2 * config.maxConnections, config.administratorsFile),
    ...listenFaults("", config.listen),
    ...listenFaults("ADMIN_", config.adminListen),
  ];
  const owner = { program: "directory", issuer: config.issuer } as const;
  const store = await openStore(config.storeUrl, owner).catch((error: Error) =>
    void faults.push(`DIRECTORY_STORE_URL: ${error.message}`)
  );
  if (store !== undefined && faults.length === 0) return store;
  await store?.close();
  throw new DirectoryConfigError(faults);
}

function listenFaults(of: string, { hostname, port }: Listen): string[] {
  try {
    Deno.listen({ hostname, port }).close();
    return [];
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      return [
        `DIRECTORY_${of}PORT: ${port} on ${hostname} is in use by another process; stop that one, or set another port`,
      ];
    }
    const names = `DIRECTORY_${of}HOST and DIRECTORY_${of}PORT`;
    return [`${names}: cannot listen on ${hostname} port ${port}: ${words(error)}`];
  }
}

/** Deno has read `.env` before this code starts (`--env-file`). It may hold secrets, so only its owner may read it. */
async function environmentFileFaults(): Promise<string[]> {
  // Without read permission for this file it is not used.
  if ((await Deno.permissions.query({ name: "read", path: ENVIRONMENT_FILE })).state !== "granted") return [];
  const file = await Deno.stat(ENVIRONMENT_FILE).catch(ignoreMissing);
  return fileFaults(ENVIRONMENT_FILE, ENVIRONMENT_FILE, "secret", { file: file?.mode ?? null, folder: null });
}

/**
 * From here on this process and its dependencies can neither read the environment nor write files. Deno asks the
 * permission to write for each connection to a signer.
 */
async function giveUpPermissions({ signer }: DirectoryConfig): Promise<void> {
  await Deno.permissions.revoke({ name: "env" });
  if (signer === undefined) await Deno.permissions.revoke({ name: "write" });
}

function watchSigner(signer: Signer | undefined): void {
  signer?.watch({
    called: () => {},
    failing: (why) => log.error("directory.signer_failing", { why }),
    working: (failedSeconds) => log.warn("directory.signer_working", { failedSeconds }),
  });
}

async function renewKeys(
  keys: RenewableStatementKeys,
  { signingKeysFile, signer, environment }: DirectoryConfig,
): Promise<void> {
  try {
    const json = await (signer?.keySet() ?? readKeys(signingKeysFile));
    requireOwnKeys(json, environment);
    await keys.renew(json);
    const published = keys.publicJwks.keys.length;
    log.info("directory.keys_renewed", { signingKid: keys.signer.kid, published });
  } catch (error) {
    log.error("directory.keys_not_renewed", { why: words(error) });
  }
}

async function readKeys(file: string | undefined): Promise<string> {
  if (file !== undefined) return await readSecret("DIRECTORY_SIGNING_KEYS", file);
  throw new Error("DIRECTORY_SIGNING_KEYS is not a file; start again to change the keys");
}

function administratorsFile(path: string): WatchedFile {
  return credentialFile(path, (file) => readSecret("DIRECTORY_ADMINISTRATORS", file));
}

/** @throws {Error} if it cannot be read, or if other users could read it */
async function readSecret(variable: string, path: string): Promise<string> {
  const [fault] = fileFaults(variable, path, "secret", await modesOf(path));
  if (fault !== undefined) throw new Error(fault);
  return await Deno.readTextFile(path);
}

async function modesOf(path: string): Promise<FileModes | undefined> {
  const file = await Deno.stat(path).catch(ignoreMissing);
  const folder = await Deno.stat(path.includes("/") ? path.replace(/\/[^/]*$/, "/") : ".").catch(
    ignoreMissing,
  );
  return folder === undefined ? undefined : { file: file?.mode ?? null, folder: folder.mode };
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Deno.errors.NotFound) return undefined;
  throw error;
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const USAGE = `deno task directory [--check]

  Serves the participants directory, with the variables of docs/operations/directory.md in the environment or in .env.

  --check   examines the configuration, the keys and the database, changes nothing, and ends`;

try {
  if (Deno.args.includes("--help")) {
    Deno.stdout.writeSync(new TextEncoder().encode(`${USAGE}\n`));
    Deno.exit(0);
  }
  if (Deno.args.some((arg) => arg !== "--check")) {
    throw new CommandLineFault(`the command line has "${Deno.args.join(" ")}"; it takes --check`);
  }
  if (Deno.args.includes("--check")) Deno.exit(await check() ? 0 : 1);
  await start();
  await output.flush(FLUSH_MS);
  Deno.exit(0); // a pending write to a blocked pipe would keep the process alive
} catch (error) {
  Deno.stderr.writeSync(new TextEncoder().encode(`${words(error)}\n`));
  Deno.exit(exitStatusOf(error));
}
