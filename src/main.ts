/**
 * Production entry: configuration, store and keys to a fetch handler. `deno serve src/main.ts` and edge runtimes take
 * the default export; `deno task serve` listens by itself. A TLS-terminating proxy stands in front.
 */
import { composePlatform, type Platform } from "./compose.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { systemClock } from "./kernel/clock.ts";
import { openKeyRing } from "./jose/key_ring.ts";
import { stdoutSink } from "./observability/log.ts";
import { openDenoKv } from "./store/deno_kv.ts";
import type { Store } from "./store/store.ts";

const BROWSER_PATHS =
  /^\/(?:jwks|docs|openapi\.json|health\/|assets\/|\.well-known\/|[^/]+\/authorization\.)/;

interface Running {
  readonly config: Config;
  readonly store: Store;
  readonly platform: Platform;
}

/** Starts the platform. @throws {ConfigError} naming every fault of the configuration at once */
async function start(): Promise<Running> {
  const environment = Deno.env.toObject();
  const keysText = await readKeys(environment["PLATFORM_KEYS"]);
  const config = readConfig({
    ...environment,
    ...(keysText === undefined ? {} : { PLATFORM_KEYS: keysText }),
  });
  const keys = await openKeyRing(config.platformKeys).catch((error: Error) => {
    throw new ConfigError([`PLATFORM_KEYS: ${error.message}`]);
  });
  const store = await openDenoKv(config.storeUrl);
  const log = stdoutSink((bytes) => Deno.stdout.writeSync(bytes));
  return {
    config,
    store,
    platform: await composePlatform({ config, store, clock: systemClock, fetch, log, keys }),
  };
}

/** `PLATFORM_KEYS` is JSON or the path of a file with it. */
async function readKeys(value: string | undefined): Promise<string | undefined> {
  if (value === undefined || value.trimStart().startsWith("{")) return value;
  try {
    return await Deno.readTextFile(value);
  } catch {
    throw new ConfigError([`PLATFORM_KEYS: the file ${value} cannot be read`]);
  }
}

/** Both hosts behind one listener: their paths do not meet, and external URLs never come from the request. */
function route({ api, browser }: Platform, request: Request): Response | Promise<Response> {
  return BROWSER_PATHS.test(new URL(request.url).pathname) ? browser.fetch(request) : api.fetch(request);
}

async function serve(): Promise<void> {
  const running = await start();
  const { config, platform, store } = running;
  platform.startWork();
  const server = Deno.serve(
    { hostname: config.host, port: config.port, onListen: () => announce(config) },
    (request) => route(platform, request),
  );
  const stop = (): void => void server.shutdown();
  Deno.addSignalListener("SIGINT", stop);
  Deno.addSignalListener("SIGTERM", stop);
  await server.finished;
  await platform.stop();
  store.close();
}

function announce({ host, port, baseUrl, authUrl }: Config): void {
  say(JSON.stringify({ level: "info", event: "platform.listening", host, port, baseUrl, authUrl }));
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

let hosted: Promise<Running> | undefined;

/** For runtimes that bring their own listener. */
export default {
  async fetch(request: Request): Promise<Response> {
    hosted ??= start();
    return await route((await hosted).platform, request);
  },
};

if (import.meta.main && Deno.args.includes("--listen")) {
  try {
    await serve();
  } catch (error) {
    Deno.stderr.writeSync(
      new TextEncoder().encode(`${error instanceof Error ? error.message : String(error)}\n`),
    );
    Deno.exit(1);
  }
}
