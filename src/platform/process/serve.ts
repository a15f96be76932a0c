/**
 * `deno task serve`: one listener for the participants' two hosts and one for operators, or what `--only` leaves of them,
 * from the start of the process to its end.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as later } from "node:timers";
import { type Config, ConfigError } from "../config/config.ts";
import type { PlatformParts } from "./platform_parts.ts";
import type { Log } from "../observed/log_events.ts";
import type { ProcessValues } from "./measured_parts.ts";
import { configure, renewKeys } from "./configure.ts";
import { openProcessLog } from "./process_log.ts";
import {
  answerUnreached,
  DRAIN_MS,
  malformed,
  misdirected,
  route,
  type Running,
  start,
  stoppingAnswer,
} from "./running_platform.ts";
import { openOwnStore, type OwnStore, type OwnStoreSettings } from "./own_store.ts";
import type { Listener, ListenerOptions } from "../../base/http/listener.ts";
import type { Runtime } from "./runtime.ts";
import { hasCode } from "../../base/kernel/error_code.ts";
import { openFilesFaults } from "../../base/http/open_files.ts";
import { operatesPath, partFaults, type ServedPart } from "./served_part.ts";
import { warnIfUnnamed } from "./named_operator.ts";
import { onHangUp, stopSignal } from "../../base/http/stop_signal.ts";
import type { PartHealth } from "../../base/observability/health.ts";
import { isUrl } from "../../base/store/store_url.ts";

/** Open connections of operators and their tools. */
export const OPERATIONS_CONNECTIONS = 32;

const PREPARE_DOCS_AFTER_MS = 2000;

/** @param part what the process serves, by default everything */
export async function serve(runtime: Runtime, part: ServedPart | undefined): Promise<void> {
  const configured = await configure(runtime);
  const { config } = configured;
  const output = openProcessLog(runtime);
  const { log, flush } = output;
  const store = await openStoreBesideFreePorts(configured, runtime, part);
  const listeners: Listener[] = [];
  let serving = true;
  const running = await start(configured, store, runtime, output, {
    ...processParts(config, listeners, part),
    isServing: () => serving,
  });
  running.platform.startWork();
  await runtime.giveUpPermissions(configured.signer !== undefined);
  if (part !== "console") listeners.push(await openParticipants(config, running, part, runtime));
  const operations = await openOperations(config, running, part, runtime);
  onHangUp(() => renewKeys(configured, store.caseKeys, log));
  const stopping = stopSignal({
    log,
    program: "platform",
    drainMs: config.lameDuckSeconds * 1000 + DRAIN_MS,
    flush,
  });
  log.info("platform.listening", addresses(config, part)); // signals are handled from now on
  if (part === undefined || part === "browser") prepareDocsSoon(running);
  warnIfUnnamed(config, log);
  await stopping;
  serving = false;
  await letProxiesLeave(config, listeners);
  await Promise.all([...listeners, ...operations].map((listener) => listener.stop()));
  await running.platform.stop();
  await running.store.close();
  log.info("platform.stopped");
  await flush();
}

/** After the requests that waited for the start. A process that stops before does not wait for it. */
function prepareDocsSoon({ platform }: Running): void {
  const prepare = (): void => void platform.prepareDocs().catch(() => {}); // the first search reports it
  later(prepare, PREPARE_DOCS_AFTER_MS).unref();
}

function openParticipants(
  config: Config,
  running: Running,
  part: ServedPart | undefined,
  runtime: Runtime,
): Promise<Listener> {
  const { host: hostname, port, maxConnections } = config;
  return open(runtime, running.log, {
    hostname,
    port,
    maxConnections,
    handle: (request) => route(running, request, part),
  });
}

/** Opens the listener of operators, if there is one. It shares no connection limit with the participants' one. */
async function openOperations(
  { operationsHost: hostname, operationsPort: port }: Config,
  { log, operations }: Running,
  part: ServedPart | undefined,
  runtime: Runtime,
): Promise<readonly Listener[]> {
  if (port === undefined) return [];
  const handle = (request: Request): Response | Promise<Response> => {
    const url = URL.parse(request.url);
    if (url === null) return malformed(log);
    return operatesPath(part, url.pathname) ? operations.fetch(request) : misdirected(log, part);
  };
  return [await open(runtime, log, { hostname, port, maxConnections: OPERATIONS_CONNECTIONS, handle })];
}

function addresses(
  { host, port, baseUrl, authUrl, operationsHost, operationsPort }: Config,
  part: ServedPart | undefined,
): Parameters<Log["info"]>[1] {
  return {
    ...(part === undefined ? {} : { only: part }),
    ...(part === "console" ? {} : { host, port }),
    baseUrl,
    authUrl,
    ...(operationsPort === undefined ? {} : { operations: `${operationsHost}:${operationsPort}` }),
  };
}

async function open(
  { openListener }: Runtime,
  log: Log,
  listen: Pick<ListenerOptions, "hostname" | "port" | "maxConnections" | "handle">,
): Promise<Listener> {
  return await openListener({
    ...listen,
    log,
    onError: (error) =>
      answerUnreached(
        log,
        500,
        "The platform failed; quote the x-fapi-interaction-id of this answer.",
        error,
      ),
    onMalformed: () => malformed(log),
    onStopping: stoppingAnswer,
  });
}

/**
 * Serves on until every proxy sends its requests to other processes. During the first half, a proxy that probes this
 * process sees that it stops. During the second half no connection is accepted, which a proxy without probes sees as a
 * request that it could not send; connections that it has kept end with their next response, or by its own idle time.
 */
async function letProxiesLeave({ lameDuckSeconds }: Config, listeners: readonly Listener[]): Promise<void> {
  if (lameDuckSeconds === 0 || listeners.length === 0) return;
  const half = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, lameDuckSeconds * 500));
  await half();
  await Promise.all(listeners.map((listener) => listener.stopAccepting()));
  await half();
}

/** The connections in readiness and metrics, and the process among the others. */
function processParts(
  config: Config,
  listeners: readonly Listener[],
  part: ServedPart | undefined,
): Required<Pick<PlatformParts, "advisory" | "identity">> & {
  readonly process: Pick<ProcessValues, "connections">;
} {
  const { host, port, operationsHost, operationsPort, processName } = config;
  const address = part === "console" ? `${operationsHost}:${operationsPort}` : `${host}:${port}`;
  return {
    advisory: { connections: () => connectionHealth(config, listeners) },
    process: { connections: () => ({ open: openConnections(listeners), limit: config.maxConnections }) },
    identity: { name: processName ?? address, ...(part === undefined ? {} : { served: part }) },
  };
}

function openConnections(listeners: readonly Listener[]): number {
  return listeners.reduce((sum, listener) => sum + listener.connections(), 0);
}

function connectionHealth({ maxConnections }: Config, listeners: readonly Listener[]): PartHealth {
  const open = openConnections(listeners);
  return { ok: open < maxConnections, detail: `${open} of ${maxConnections} are open` };
}

/** @throws {ConfigError} if a port is in use, the store cannot be opened or a part is missing; it names all of them */
async function openStoreBesideFreePorts(
  configured: OwnStoreSettings,
  { openStore }: Runtime,
  part: ServedPart | undefined,
): Promise<OwnStore> {
  const { config } = configured;
  const { host, port, operationsHost, operationsPort, storeUrl, maxConnections } = config;
  // Each request may wait for a bank. A database itself must not be opened: SQLite would lose its locks.
  const faults = [
    ...partFaults(part, config),
    ...openFilesFaults(
      "PLATFORM_MAX_CONNECTIONS",
      2 * maxConnections + OPERATIONS_CONNECTIONS,
      folderOf(storeUrl),
    ),
    ...(part === "console" ? [] : await addressFaults("", host, port)),
    ...(operationsPort === undefined
      ? []
      : await addressFaults("PLATFORM_OPERATIONS_", operationsHost, operationsPort)),
  ];
  const opened = await openOwnStore(configured, openStore).catch((error: Error) =>
    void faults.push(`PLATFORM_STORE_URL: ${error.message}`)
  );
  if (opened !== undefined && faults.length === 0) return opened;
  await opened?.store.close();
  throw new ConfigError(faults);
}

/** Of the database file, or the working directory. */
function folderOf(storeUrl: string): string {
  return isUrl(storeUrl) ? "." : storeUrl.replace(/[^/]*$/, ".");
}

async function addressFaults(
  variables: "" | "PLATFORM_OPERATIONS_",
  host: string,
  port: number,
): Promise<string[]> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, "listening");
    probe.close();
    return [];
  } catch (error) {
    if (hasCode(error, "EADDRINUSE")) {
      return [
        `${variables}PORT: ${port} on ${host} is in use by another process; stop that one, or set another port`,
      ];
    }
    const why = error instanceof Error ? error.message : String(error);
    return [`${variables}HOST and ${variables}PORT: cannot listen on ${host} port ${port}: ${why}`];
  }
}
