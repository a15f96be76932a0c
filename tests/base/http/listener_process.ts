/** A listener in a process of its own, with a bound on connections that is above the limit of open files. */
import { openListener } from "../../../src/base/http/deno_listener.ts";
import { openLog } from "../../../src/base/observability/log.ts";

const encoder = new TextEncoder();
const sink = (line: string): void => void Deno.stdout.writeSync(encoder.encode(`${line}\n`));
const log = openLog({ clock: () => 0, sink, level: "info" });
const listener = openListener({
  hostname: "127.0.0.1",
  port: 0,
  maxConnections: 10_000,
  log,
  handle: () => new Response("answered"),
  onError: () => new Response(null, { status: 500 }),
  onStopping: () => new Response(null, { status: 503 }),
});
log.info("listening", { port: listener.addr.port });
