/**
 * `deno task serve --check`: examines what a start needs, beside a running process if there is one, and changes nothing.
 * Prints one line for each check.
 */
import { requireAgreement, runChecks } from "../../base/observability/preflight.ts";
import { checkStore } from "../../base/store/check_store.ts";
import { monotonicClock, steadyClock, systemClock } from "../../base/kernel/clock.ts";
import { openLog } from "../../base/observability/log.ts";
import { type DirectoryClock, openDirectoryClock } from "../core/participants/directory_clock.ts";
import { guardedFetch, keysOf } from "../core/participants/guarded_fetch.ts";
import { configure, type Configured } from "./configure.ts";
import type { Runtime } from "./runtime.ts";

/** What `fetch` throws, in words. */
const UNCONNECTED: Readonly<Record<string, string>> = {
  TypeError: "no connection; check the name, the network, and DENO_CERT if the authority is your own",
  TimeoutError: "no answer within 2 s",
};

/** Returns whether every check passed. */
export async function checkPlatform(runtime: Runtime): Promise<boolean> {
  const lines: string[] = [];
  const configured = await configure(runtime).catch((error: Error) => error);
  const checks = configured instanceof Error
    ? { configuration: () => Promise.reject(configured) }
    : checksOf(configured, runtime);
  const passed = await runChecks(checks, (line) => lines.push(line));
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  for (let written = 0; written < bytes.length;) written += await runtime.write(bytes.subarray(written));
  return passed;
}

function checksOf(configured: Configured, { fetch }: Runtime): Parameters<typeof runChecks>[0] {
  const { config, keys, wrapping, operators } = configured;
  const { storeUrl, dataKeysStore, authUrl: issuer } = config;
  const clock = silentDirectoryClock(fetch);
  return {
    configuration: () => `${config.environment}, ${config.baseUrl}, ${issuer}`,
    keys: () => `signs with ${keys.signer.kid}, publishes ${keys.publicJwks.keys.length}`,
    "wrapping keys": () =>
      wrapping === undefined ? "none: personal data is not sealed" : `wraps with ${wrapping.newestId}`,
    operators: () => operators === undefined ? "none" : "the list can be read",
    database: () => database(storeUrl, { program: "platform", issuer }),
    ...(wrapping === undefined
      ? {}
      : { "data keys": () => database(dataKeysStore, { program: "data-keys", issuer }) }),
    directory: () => directory(configured, clock),
    "clock": () => {
      const { ok, detail } = clock.health();
      if (!ok || clock.aheadSeconds() === undefined) throw new Error(detail ?? "the directory sent no time");
      return "agrees with the directory's";
    },
  };
}

async function database(url: string, owner: Parameters<typeof checkStore>[1]): Promise<string> {
  const { detail, aheadMs } = await checkStore(url, owner, systemClock);
  return aheadMs === undefined
    ? detail
    : `${detail}; ${requireAgreement("the clock of the server", aheadMs)}`;
}

function silentDirectoryClock(fetch: Runtime["fetch"]): DirectoryClock {
  const log = openLog({ clock: systemClock, sink: () => {}, level: "error" });
  return openDirectoryClock({
    fetch,
    clock: systemClock,
    steady: steadyClock(systemClock, monotonicClock),
    log,
  });
}

/** The keys of software statements and the status list, without which no participant is admitted. */
async function directory({ config }: Configured, { fetch }: DirectoryClock): Promise<string> {
  const { directoryHosts: allowedHosts, directoryIssuer, directoryJwksUri, environment } = config;
  const fetchJson = guardedFetch({ fetch, allowedHosts, loopbackHttp: environment === "Sandbox" });
  const document = await fetchJson(directoryJwksUri);
  const keys = document.ok ? keysOf(document.value) : document;
  if (!keys.ok) throw new Error(`${directoryJwksUri}: ${UNCONNECTED[keys.fault.why] ?? keys.fault.why}`);
  const status = await fetch(`${directoryIssuer}/status`, {
    redirect: "manual",
    signal: AbortSignal.timeout(2000),
  });
  await status.body?.cancel();
  if (status.status !== 200) throw new Error(`${directoryIssuer}/status: status ${status.status}`);
  return `${directoryIssuer}, ${keys.value.length} keys`;
}
