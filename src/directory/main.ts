/** `deno task directory`: the participants directory alone, plain HTTP behind a TLS proxy. Environment in, handler out. */
import { systemClock } from "../kernel/clock.ts";
import { openDenoKv } from "../store/deno_kv.ts";
import { composeDirectory, type DirectoryApp } from "./compose_directory.ts";
import { type DirectoryConfig, readDirectoryConfig } from "./config.ts";
import { openLog } from "../observability/log.ts";
import { openLogQueue } from "../observability/log_queue.ts";
import type { DirectoryLog } from "./directory.ts";

const encoder = new TextEncoder();

/** At the end, the reader of standard output has this long to take what is queued. */
const FLUSH_MS = 2000;

const output = openLogQueue({ clock: systemClock, write: (bytes) => Deno.stdout.write(bytes) });
const log: DirectoryLog = openLog({ clock: systemClock, sink: output.sink, level: "info" });

async function start(): Promise<void> {
  const config = await readDirectoryConfig({
    env: Deno.env.toObject(),
    readFile: (path) => Deno.readTextFile(path),
    now: systemClock(),
  });
  const store = await openDenoKv(config.storeUrl);
  const app = await composeDirectory({
    ...config,
    store,
    clock: systemClock,
    loopbackRedirects: config.environment === "Sandbox",
    log,
  });
  await serve(app, config);
  store.close();
}

async function serve(app: DirectoryApp, { host, port, issuer, environment }: DirectoryConfig): Promise<void> {
  const server = Deno.serve({
    hostname: host,
    port,
    onListen: ({ hostname, port }) => log.info("directory.started", { hostname, port, issuer, environment }),
  }, (request) => app.fetch(request));
  const stop = (): void => void server.shutdown(); // lets running requests end
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);
  await server.finished;
  log.info("directory.stopped");
}

try {
  await start();
  await output.flush(FLUSH_MS);
  Deno.exit(0); // a write that the reader does not take would keep the process
} catch (error) {
  const words = error instanceof Deno.errors.AddrInUse
    ? "DIRECTORY_PORT is in use by another process; stop that one, or set another port."
    : error instanceof Error
    ? error.message
    : String(error);
  Deno.stderr.writeSync(encoder.encode(`${words}\n`));
  Deno.exit(1);
}
