/** `deno task serve`: one listener for both hosts, from the start of the process to its end. */
import { type Config, ConfigError } from "../config.ts";
import { configure, giveUpPermissions, renewKeys } from "./configure.ts";
import {
  answerUnreached,
  DRAIN_MS,
  flushLog,
  log,
  openOwnStore,
  route,
  start,
  stoppingAnswer,
} from "./running_platform.ts";
import { type Listener, openListener } from "../../base/http/listener.ts";
import { openFilesFaults } from "../../base/http/open_files.ts";
import { stopSignal } from "../../base/http/stop_signal.ts";
import type { PartHealth } from "../../base/observability/health.ts";
import { isUrl } from "../../base/store/store_url.ts";
import type { Store } from "../../base/store/store.ts";

export async function serve(): Promise<void> {
  const configured = await configure();
  const { config } = configured;
  const store = await openStoreBesideFreePort(config);
  const listeners: Listener[] = [];
  let serving = true;
  const running = await start(configured, store, {
    advisory: { connections: () => connectionHealth(config, listeners) },
    isServing: () => serving,
  });
  running.platform.startWork();
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
  Deno.addSignalListener("SIGHUP", () => void renewKeys(configured, log));
  const stopping = stopSignal({
    log,
    program: "platform",
    drainMs: config.lameDuckSeconds * 1000 + DRAIN_MS,
    flush: flushLog,
  });
  log.info("platform.listening", { host: hostname, port, baseUrl, authUrl }); // signals are handled from now on
  await stopping;
  serving = false;
  await letProxiesLeave(config, listener);
  await listener.stop();
  await running.platform.stop();
  await store.close();
  log.info("platform.stopped");
}

/**
 * Serves on until every proxy sends its requests to other processes. During the first half, a proxy that probes this
 * process sees that it stops. During the second half no connection is accepted, which a proxy without probes sees as a
 * request that it could not send; connections that it has kept end with their next response, or by its own idle time.
 */
async function letProxiesLeave({ lameDuckSeconds }: Config, listener: Listener): Promise<void> {
  if (lameDuckSeconds === 0) return;
  const half = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, lameDuckSeconds * 500));
  await half();
  await listener.stopAccepting();
  await half();
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
