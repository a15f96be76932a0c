/**
 * The platform in a runtime that listens itself: `deno serve`, or an edge runtime. It writes no files. Its background
 * work runs once a minute if the runtime has `Deno.cron`, because some runtimes stop a process between requests and
 * with it its timers. Otherwise it has timers of its own.
 */
import { configure } from "./configure.ts";
import { openProcessLog, type ProcessLog } from "./process_log.ts";
import { DRAIN_MS, route, type Running, start, stoppingAnswer } from "./running_platform.ts";
import { openOwnStore } from "./own_store.ts";
import type { Runtime } from "./runtime.ts";
import { stopSignal } from "../../base/http/stop_signal.ts";

/** The form of a default export that `deno serve` takes. */
export interface Hosted {
  fetch(request: Request): Promise<Response>;
}

/** `Deno.cron`. */
export type Cron = (
  name: string,
  schedule: string,
  options: { readonly signal: AbortSignal },
  work: () => Promise<void>,
) => Promise<void>;

/** The highest frequency of the cron format. */
const EVERY_MINUTE = "* * * * *";

/** Starts the platform. @throws {Error} if the configuration or the store cannot be used */
export async function openHosted(runtime: Runtime, cron: Cron | undefined): Promise<Hosted> {
  const configured = await configure(runtime);
  const output = openProcessLog(runtime);
  const { log } = output;
  const { baseUrl, authUrl } = configured.config;
  const running = await start(configured, await openOwnStore(configured, runtime.openStore), runtime, output);
  const stopping = new AbortController();
  const scheduler = startWork(running, cron, stopping.signal);
  await runtime.giveUpPermissions(configured.signer !== undefined);
  const requests = countRequests();
  endWithRuntime(output, async () => {
    stopping.abort();
    await requests.ended();
    await running.platform.stop();
    await running.store.close();
    log.info("platform.stopped");
    await output.flush();
  });
  log.info("platform.started", { baseUrl, authUrl, scheduler });
  return { fetch: (request) => requests.run(() => route(running, request)) };
}

function startWork({ platform }: Running, cron: Cron | undefined, signal: AbortSignal): "cron" | "timers" {
  if (cron === undefined) {
    platform.startWork();
    return "timers";
  }
  void cron("background work", EVERY_MINUTE, { signal }, () => platform.workOnce());
  return "cron";
}

interface Requests {
  run(answer: () => Response | Promise<Response>): Promise<Response>;
  /** Resolves when no request is in work. Later ones are rejected. */
  ended(): Promise<void>;
}

function countRequests(): Requests {
  let inWork = 0;
  const none = Promise.withResolvers<void>();
  let isEnding = false;
  const note = (): void => {
    if (isEnding && inWork === 0) none.resolve();
  };
  return {
    async run(answer) {
      if (isEnding && inWork === 0) return stoppingAnswer();
      inWork += 1;
      try {
        return await answer();
      } finally {
        inWork -= 1;
        note();
      }
    },
    ended() {
      isEnding = true;
      note();
      return none.promise;
    },
  };
}

/** The runtime itself stops listening, and completes its connections. The process ends when no work keeps it. */
function endWithRuntime({ log, flush }: ProcessLog, end: () => Promise<void>): void {
  const options = { log, program: "platform", drainMs: DRAIN_MS, flush } as const;
  try {
    void stopSignal(options).then(end);
  } catch (error) {
    log.warn("platform.no_signals", { why: String(error) }); // a runtime without signals ends processes as it likes
  }
}
