/**
 * Production entry. `deno task serve` listens behind a TLS-terminating proxy. `deno serve src/platform/main.ts` and edge
 * runtimes use the default export. The process refuses to start if the configuration is incomplete or unsafe, and lists
 * every problem. SIGHUP reads the keys again. After SIGTERM, running requests are completed.
 */
import { configure } from "./process/configure.ts";
import { flushLog, openOwnStore, route, type Running, start } from "./process/running_platform.ts";
import { serve } from "./process/serve.ts";

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
    await flushLog();
    Deno.exit(0); // a write that the reader does not take would keep the process
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(new TextEncoder().encode(`${words}\n`));
    Deno.exit(1);
  }
}
