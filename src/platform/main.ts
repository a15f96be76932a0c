/**
 * Production entry. `deno task serve` listens behind a TLS-terminating proxy. `deno serve src/platform/main.ts` and edge
 * runtimes use the default export. The process refuses to start if the configuration is incomplete or unsafe, and lists
 * every problem. SIGHUP reads the keys again. After SIGTERM, running requests are completed.
 */
import { isBelow } from "./http/endpoint.ts";
import { composePlatform, type Platform } from "./compose.ts";
import { type Config, ConfigError, type Environment, readConfig, VARIABLES } from "./config.ts";
import { type Listener, openListener } from "../base/http/listener.ts";
import { openFilesFaults } from "../base/http/open_files.ts";
import { stopSignal } from "../base/http/stop_signal.ts";
import { openKeyRing, type RenewableKeyRing } from "../base/jose/key_ring.ts";
import { monotonicClock, systemClock } from "../base/kernel/clock.ts";
import { type Log, openLog } from "../base/observability/log.ts";
import { openLogQueue } from "../base/observability/log_queue.ts";
import { logProbe, type PartHealth, type Probe } from "../base/observability/health.ts";
import { openStore } from "../base/store/open_store.ts";
import { isUrl } from "../base/store/store_url.ts";
import type { Store } from "../base/store/store.ts";

/** The file that `--env-file` reads, in the working directory. */
const ENVIRONMENT_FILE = ".env";

/** Longest stop. A body arrives within 5 s, and a payment waits at most 3 s for its bank. */
const DRAIN_MS = 25_000;

/** Time to write the queued log lines to standard output at the end. */
const FLUSH_MS = 2000;

const output = openLogQueue({ clock: systemClock, write: (bytes) => Deno.stdout.write(bytes) });
/** Startup and shutdown are logged at every level. */
const log: Log = openLog({ clock: systemClock, sink: output.sink, level: "info" });

interface Configured {
  readonly environment: Environment;
  readonly config: Config;
  readonly keys: RenewableKeyRing;
  /** Path of the file with the keys, if PLATFORM_KEYS is a path. */
  readonly keysFile: string | undefined;
}

interface Running {
  readonly store: Store;
  readonly platform: Platform;
  /** Whether a path is one of the API host. */
  readonly isApiPath: (path: string) => boolean;
}

/**
 * Reads and checks the whole configuration.
 *
 * @throws {ConfigError} with every fault
 */
async function configure(): Promise<Configured> {
  const read: Environment = Object.fromEntries(VARIABLES.map((name) => [name, Deno.env.get(name)]));
  const environment: Environment = { ...read, OPERATOR_LOGO: await readLogoFile(read["OPERATOR_LOGO"]) };
  const given = environment["PLATFORM_KEYS"] ?? "";
  const keysFile = given === "" || given.trimStart().startsWith("{") ? undefined : given;
  const faults = await environmentFileFaults();
  const note = (error: Error): undefined => void faults.push(`PLATFORM_KEYS: ${error.message}`);
  const json = keysFile === undefined ? given : await readKeysFile(keysFile).catch(note);
  const keys = json === undefined || json === "" ? undefined : await openKeyRing(json).catch(note);
  const config = readConfig({ ...environment, PLATFORM_KEYS: json ?? given }, faults);
  if (keys === undefined) throw new ConfigError(faults); // readConfig has thrown already
  return { environment, config, keys, keysFile };
}

/** Deno has read `.env` before this code starts (`--env-file`). It contains secrets, so only its owner may read it. */
async function environmentFileFaults(): Promise<string[]> {
  // Without read permission for this file it is not used.
  if ((await Deno.permissions.query({ name: "read", path: ENVIRONMENT_FILE })).state !== "granted") return [];
  const { mode } = await Deno.stat(ENVIRONMENT_FILE).catch(() => ({ mode: null }));
  const fault = modeFault(ENVIRONMENT_FILE, mode);
  return fault === undefined ? [] : [`${ENVIRONMENT_FILE}: ${fault}`];
}

/** Returns the fault of a secret file's mode. The mode is null on Windows, and if the file does not exist. */
function modeFault(path: string, mode: number | null): string | undefined {
  return mode !== null && (mode & 0o077) !== 0 ? `others may open ${path}; chmod 600 ${path}` : undefined;
}

/** @throws {Error} if the file cannot be read, or if other users may open it */
async function readKeysFile(path: string): Promise<string> {
  const { mode } = await Deno.stat(path).catch(() => {
    throw new Error(`the file ${path} cannot be read`);
  });
  const fault = modeFault(path, mode);
  if (fault !== undefined) throw new Error(fault);
  return await Deno.readTextFile(path).catch(() => {
    throw new Error(`the file ${path} cannot be read`);
  });
}

/** Returns the logo as a `data:` URL. An unreadable path is returned unchanged, and `readConfig` reports it. */
async function readLogoFile(path: string | undefined): Promise<string | undefined> {
  const type = /\.svg$/i.test(path ?? "") ? "image/svg+xml" : "image/png";
  const bytes = await Deno.readFile(path ?? "").catch(() => undefined);
  return bytes === undefined ? path : `data:${type};base64,${bytes.toBase64()}`;
}

/** Opens the store. @throws {Error} in one sentence */
async function openOwnStore({ storeUrl, authUrl }: Config): Promise<Store> {
  return await openStore(storeUrl, { program: "platform", issuer: authUrl });
}

async function start(
  { config, keys }: Configured,
  store: Store,
  advisory: Readonly<Record<string, Probe>> = {},
): Promise<Running> {
  const platform = await composePlatform({
    config,
    store,
    clock: systemClock,
    monotonic: monotonicClock,
    fetch,
    log: output.sink,
    keys,
    advisory: { log: logProbe(output.state), ...advisory },
  });
  platform.startWork();
  return { store, platform, isApiPath: isBelow(platform.endpoints.api) };
}

/** Serves both hosts with one listener. Their paths are distinct, and external URLs are never derived from the request. */
function route(
  { platform: { api, browser }, isApiPath }: Running,
  request: Request,
): Response | Promise<Response> {
  const url = URL.parse(request.url); // Deno makes it from the Host header, or takes it from the request line
  if (url === null) return answerUnreached(400, "The Host header or the request target is malformed.");
  return isApiPath(url.pathname) ? api.fetch(request) : browser.fetch(request);
}

/** Answers a request that reaches neither app. Both apps have an error handler of their own. */
function answerUnreached(status: 400 | 500, description: string, error?: unknown): Response {
  const interactionId = crypto.randomUUID();
  const why = String(error instanceof Error ? error.stack : error);
  if (status === 400) log.info("request.rejected", { interactionId, reason: "request.malformed_target" });
  else log.error("request.failed", { interactionId, error: why });
  const code = status === 400 ? "invalid_request" : "server_error";
  return Response.json({ error: code, error_description: description }, {
    status,
    headers: { "cache-control": "no-store", "x-fapi-interaction-id": interactionId },
  });
}

async function serve(): Promise<void> {
  const configured = await configure();
  const { config } = configured;
  const store = await openStoreBesideFreePort(config);
  const listeners: Listener[] = [];
  const running = await start(configured, store, {
    connections: () => connectionHealth(config, listeners),
  });
  await giveUpPermissions();
  const { host: hostname, port, baseUrl, authUrl, maxConnections } = config;
  const listener = openListener({
    hostname,
    port,
    maxConnections,
    log,
    handle: (request) => route(running, request),
    onError: (error) =>
      answerUnreached(500, "The platform failed; quote the x-fapi-interaction-id of this answer.", error),
    onStopping: stoppingAnswer,
  });
  listeners.push(listener);
  Deno.addSignalListener("SIGHUP", () => void renewKeys(configured));
  const stopping = stopSignal({
    log,
    program: "platform",
    drainMs: DRAIN_MS,
    flush: () => output.flush(FLUSH_MS),
  });
  log.info("platform.listening", { host: hostname, port, baseUrl, authUrl }); // signals are handled from now on
  await stopping;
  await listener.stop();
  await running.platform.stop();
  await store.close();
  log.info("platform.stopped");
}

function connectionHealth({ maxConnections }: Config, listeners: readonly Listener[]): PartHealth {
  const open = listeners.reduce((sum, listener) => sum + listener.connections(), 0);
  return { ok: open < maxConnections, detail: `${open} of ${maxConnections} are open` };
}

/** @throws {ConfigError} if the port is in use or the store cannot be opened; it names both */
async function openStoreBesideFreePort(config: Config): Promise<Store> {
  const { host, port, storeUrl, maxConnections } = config;
  // Each request may wait for a bank. A database itself must not be opened: SQLite would lose its locks.
  const faults = openFilesFaults("MAX_CONNECTIONS", 2 * maxConnections, folderOf(storeUrl));
  try {
    Deno.listen({ hostname: host, port }).close();
  } catch (error) {
    faults.push(addressFault(error, host, port));
  }
  const store = await openOwnStore(config).catch((error: Error) =>
    void faults.push(`STORE_URL: ${error.message}`)
  );
  if (store !== undefined && faults.length === 0) return store;
  await store?.close();
  throw new ConfigError(faults);
}

/** Of the database file, or the working directory. */
function folderOf(storeUrl: string): string {
  return isUrl(storeUrl) ? "." : storeUrl.replace(/[^/]*$/, ".");
}

function addressFault(error: unknown, host: string, port: number): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return `PORT: ${port} on ${host} is in use by another process; stop that one, or set another port`;
  }
  const why = error instanceof Error ? error.message : String(error);
  return `HOST and PORT: cannot listen on ${host} port ${port}: ${why}`;
}

/** From here on this process and its dependencies can neither read the environment nor write files. */
async function giveUpPermissions(): Promise<void> {
  await Deno.permissions.revoke({ name: "env" });
  await Deno.permissions.revoke({ name: "write" });
}

async function renewKeys({ environment, keys, keysFile }: Configured): Promise<void> {
  try {
    if (keysFile === undefined) throw new Error("PLATFORM_KEYS is no file; start again to change them");
    const json = await readKeysFile(keysFile);
    readConfig({ ...environment, PLATFORM_KEYS: json });
    await keys.renew(json);
    const published = keys.publicJwks.keys.length;
    log.info("platform_keys.renewed", { signingKid: keys.signer.kid, published });
  } catch (error) {
    log.error("platform_keys.not_renewed", { why: error instanceof Error ? error.message : String(error) });
  }
}

function stoppingAnswer(): Response {
  return Response.json({ error: "temporarily_unavailable", error_description: "The platform is stopping." }, {
    status: 503,
    headers: { "cache-control": "no-store", "retry-after": "5", connection: "close" },
  });
}

let hosted: Promise<Running> | undefined;

async function startHosted(): Promise<Running> {
  const configured = await configure();
  return await start(configured, await openOwnStore(configured.config));
}

const listens = import.meta.main && Deno.args.includes("--listen");

/** For runtimes with their own listener. Deno warns about a default export if this process listens itself. */
export default listens ? undefined : {
  async fetch(request: Request): Promise<Response> {
    hosted ??= startHosted();
    return await route(await hosted, request);
  },
};

if (listens) {
  try {
    await serve();
    await output.flush(FLUSH_MS);
    Deno.exit(0); // a write that the reader does not take would keep the process
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(new TextEncoder().encode(`${words}\n`));
    Deno.exit(1);
  }
}
