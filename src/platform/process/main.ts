/**
 * Production entry. `deno task serve` listens behind a TLS-terminating proxy. `deno serve src/platform/process/main.ts` and edge
 * runtimes use the default export. The process refuses to start if the configuration is incomplete or unsafe, and lists
 * every problem. SIGHUP reads the keys again (`deno task serve`). After SIGTERM, running requests are completed.
 */
import { exitStatusOf } from "../../base/kernel/command_line_fault.ts";
import { denoFetch } from "../../base/http/deno_fetch.ts";
import { openListener } from "../../base/http/deno_listener.ts";
import { startWatchdog } from "../../base/http/systemd_watchdog.ts";
import { openStore } from "../../base/store/open_store.ts";
import { type Cron, type Hosted, openHosted } from "./hosted.ts";
import type { Runtime } from "./runtime.ts";
import { checkPlatform } from "./check.ts";
import { serve } from "./serve.ts";
import { readServedPart } from "./served_part.ts";

const runtime: Runtime = {
  openListener,
  openStore,
  fetch: denoFetch,
  write: (bytes) => Deno.stdout.write(bytes),
  mayRead: async (path) => (await Deno.permissions.query({ name: "read", path })).state === "granted",
  async giveUpPermissions(keepWriting) {
    const path = await startWatchdog();
    await Deno.permissions.revoke({ name: "env" });
    // The unit lets it write its data and to sockets. The sockets remain.
    if (!keepWriting) {
      await Deno.permissions.revoke({ name: "write", ...(path === undefined ? {} : { path }) });
    }
  },
};

const USAGE = `deno task serve [--only api|browser|console] [--check]

  Serves the platform over plain HTTP behind a TLS-terminating proxy, with the variables of
  docs/operations/configuration.md in the environment or in .env.

  --only    one listener: the API host, the browser host, or the operators' console; needs PostgreSQL
  --check   examines the configuration, the keys, the database and the directory, changes nothing, and ends`;

const listens = import.meta.main && Deno.args.includes("--listen");
let hosted: Promise<Hosted> | undefined;

/** For runtimes with their own listener. Deno warns about a default export if this process listens itself. */
export default listens ? undefined : {
  async fetch(request: Request): Promise<Response> {
    return await (await (hosted ??= openHosted(runtime, cron()))).fetch(request);
  },
};

if (import.meta.main) {
  try {
    if (Deno.args.includes("--help")) {
      Deno.stdout.writeSync(new TextEncoder().encode(`${USAGE}\n`));
      Deno.exit(0);
    }
    const part = readServedPart(Deno.args);
    if (Deno.args.includes("--check")) Deno.exit(await checkPlatform(runtime) ? 0 : 1);
    if (listens) {
      await serve(runtime, part);
      Deno.exit(0); // a write that the reader does not take would keep the process
    }
    await (hosted = openHosted(runtime, cron())); // the runtime listens afterwards
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(new TextEncoder().encode(`${words}\n`));
    Deno.exit(exitStatusOf(error));
  }
}

/** Only with `--unstable-cron`, and on hosts that offer it. */
function cron(): Cron | undefined {
  const offered: unknown = Reflect.get(Deno, "cron");
  return typeof offered === "function" ? offered as Cron : undefined;
}
