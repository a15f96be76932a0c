/** The platform of this process: its store and its hosts. */
import process from "node:process";
import { isBelow } from "../guards/http/endpoint.ts";
import { composePlatform, type Platform } from "./compose.ts";
import type { PlatformParts } from "./platform_parts.ts";
import type { ProcessValues } from "./measured_parts.ts";
import type { Configured } from "./configure.ts";
import type { OwnStore } from "./own_store.ts";
import type { ProcessLog } from "./process_log.ts";
import type { Runtime } from "./runtime.ts";
import { monotonicClock, systemClock } from "../../base/kernel/clock.ts";
import type { Log } from "../observed/log_events.ts";
import { logProbe } from "../../base/observability/health.ts";
import type { Store } from "../../base/store/store.ts";
import { type ServedPart, servesPath } from "./served_part.ts";

/** Longest stop. A body arrives within 5 s, and a payment waits at most 3 s for its bank. */
export const DRAIN_MS = 25_000;
export interface Running {
  readonly log: Log;
  readonly store: Store;
  readonly platform: Platform;
  /** Composed before the program gives up permissions, and whether or not anybody asks for it. */
  readonly operations: Platform["operations"];
  /** Whether a path is one of the API host. */
  readonly isApiPath: (path: string) => boolean;
}

export async function start(
  { config, keys, operators, signer }: Configured,
  { store, caseKeys, waitsForStandby }: OwnStore,
  { fetch }: Pick<Runtime, "fetch">,
  { log, queue }: ProcessLog,
  own: Pick<PlatformParts, "advisory" | "isServing" | "identity"> & {
    readonly process?: Partial<ProcessValues>;
  } = {},
): Promise<Running> {
  const platform = await composePlatform({
    config,
    store,
    clock: systemClock,
    monotonic: monotonicClock,
    fetch,
    log: queue.sink,
    keys,
    signer,
    operators,
    caseKeys,
    ...own,
    process: {
      droppedLogLines: () => queue.state().dropped,
      memory: () => process.memoryUsage(),
      standby: newestOf(waitsForStandby),
      ...own.process,
    },
    advisory: { log: logProbe(queue.state), ...own.advisory },
  });
  return {
    log,
    store,
    platform,
    operations: platform.operations,
    isApiPath: isBelow(platform.endpoints.api),
  };
}

/** Returns a function that returns the newest known value, and asks for the next one meanwhile. */
function newestOf(ask: (() => Promise<boolean>) | undefined): () => boolean | undefined {
  let newest: boolean | undefined;
  let asking: Promise<void> | undefined;
  return () => {
    if (ask !== undefined) {
      asking ??= ask().then((value) => void (newest = value), () => void (newest = undefined))
        .finally(() => asking = undefined);
    }
    return newest;
  };
}

/** Serves the participants' two hosts with one listener. Their paths are distinct, and external URLs are never derived from the request. */
export function route(
  { log, platform: { api, browser }, isApiPath }: Running,
  request: Request,
  part?: ServedPart,
): Response | Promise<Response> {
  const url = URL.parse(request.url); // the runtime makes it from the Host header, or takes it from the request line
  if (url === null) return malformed(log);
  const isApi = isApiPath(url.pathname);
  if (!servesPath(part, url.pathname, isApi)) return misdirected(log, part);
  return isApi ? api.fetch(request) : browser.fetch(request);
}

/** Answers a request whose target or Host makes no URL. */
export function malformed(log: Log): Response {
  return answerUnreached(log, 400, "The Host header or the request target is malformed.");
}

/** Answers a request for a part that this process does not serve (RFC 9110 §15.5.20). Its proxy has another backend for it. */
export function misdirected(log: Log, part: ServedPart | undefined): Response {
  return answerUnreached(
    log,
    421,
    `This process serves ${part} alone; check PLATFORM_BACKENDS of the proxy.`,
  );
}

/** Answers a request that reaches neither app. Both apps have an error handler of their own. */
export function answerUnreached(
  log: Log,
  status: 400 | 421 | 500,
  description: string,
  error?: unknown,
): Response {
  const interactionId = crypto.randomUUID();
  const why = String(error instanceof Error ? error.stack : error);
  const reason = status === 421 ? "request.misdirected" : "request.malformed_target";
  if (status === 500) log.error("request.failed", { interactionId, error: why });
  else log.info("request.rejected", { interactionId, reason });
  const code = status === 500 ? "server_error" : "invalid_request";
  return Response.json({ error: code, error_description: description }, {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-fapi-interaction-id": interactionId,
    },
  });
}

export function stoppingAnswer(): Response {
  return Response.json({ error: "temporarily_unavailable", error_description: "The platform is stopping." }, {
    status: 503,
    headers: { "cache-control": "no-store", "retry-after": "5", connection: "close" },
  });
}
