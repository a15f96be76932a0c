/** The composition root: opens every part of a platform once, and hands them to its hosts and its background work. */
import { currentFacts } from "../../base/http/context.ts";
import { type Probe, type Readiness, readiness, storeProbe } from "../../base/observability/health.ts";
import { openLog } from "../../base/observability/log.ts";
import { listed, type MountedEndpoint } from "../guards/http/endpoint.ts";
import type { Log } from "../observed/log_events.ts";
import { openPlatformMetrics } from "../observed/metrics.ts";
import { beginEpoch } from "../operations/recovery/begin_epoch.ts";
import { apiHost } from "./api_host.ts";
import { browserHost } from "./browser_host.ts";
import { guarded, openSpans, watchSigner } from "./measured_parts.ts";
import { platformDocument } from "./openapi.ts";
import { operationsHost } from "./operations_host.ts";
import type { PlatformParts } from "./platform_parts.ts";
import { openWork, type PlatformWork } from "./platform_work.ts";
import { openClocks } from "./process_clocks.ts";
import { documentation, once } from "./public_pages.ts";
import { platformRecords } from "./records.ts";
import { fillOnScrape } from "./scraped_values.ts";
import { openSharedParts, type SharedParts } from "./shared_parts.ts";

export interface Handler {
  fetch(request: Request): Promise<Response>;
}

/** A running platform: the apps of its hosts for listeners, and background work. */
export interface Platform extends PlatformWork {
  readonly api: Handler;
  readonly browser: Handler;
  /** For operators, on a listener of its own. Composed when it is first asked for: not every process serves them. */
  readonly operations: Handler;
  readonly endpoints: { readonly [host in "api" | "browser" | "operations"]: readonly MountedEndpoint[] };
  readonly readiness: () => Promise<Readiness>;
  /** Makes the index of the documentation, so that no reader waits for it. */
  readonly prepareDocs: () => Promise<void>;
}

export async function composePlatform(given: PlatformParts): Promise<Platform> {
  const { shared, markAge, store } = await openParts(given);
  await beginEpoch({ ...shared, records: platformRecords });
  await shared.currentControls.get();
  const ready = (): Promise<Readiness> =>
    readiness(requiredProbes(shared, store.isWorking), advisory(shared));
  const health = { readiness: ready, isServing: shared.isServing };
  const api = apiHost(shared);
  const openApi = once(() => platformDocument(given.config, [api.endpoints, browser.endpoints]));
  const docs = once(() => documentation(openApi(), given));
  const browser = browserHost(shared, { ...health, openApi, docs });
  const operations = once(() => operationsHost(shared, health));
  return {
    api,
    browser,
    get operations() {
      return operations();
    },
    endpoints: {
      api: api.endpoints.map(listed),
      browser: browser.endpoints.map(listed),
      get operations() {
        return operations().endpoints.map(listed);
      },
    },
    readiness: ready,
    prepareDocs: () => docs().prepare(),
    ...openWork(shared, { markAge, readiness: ready }),
  };
}

/** Guards and measures the store and the signer, and opens the clocks and what needs them. */
async function openParts(given: PlatformParts) {
  const { config, clock } = given;
  const log: Log = openLog({ clock, sink: given.log, level: config.logLevel, context: currentFacts });
  const metrics = openPlatformMetrics();
  const store = guarded(given, metrics, log);
  watchSigner(given.signer, metrics, log);
  const { mark: markAge, ...clocks } = await openClocks({ ...given, store }, log);
  const shared = openSharedParts({
    ...given,
    ...clocks,
    log,
    store,
    metrics,
    spans: openSpans(given, metrics),
  });
  fillOnScrape(shared, store.isFailing);
  return { shared, markAge, store };
}

type Probes = Readonly<Record<string, Probe>>;

function requiredProbes({ signer }: SharedParts, isStoreWorking: () => Promise<boolean>): Probes {
  return { store: storeProbe(isStoreWorking), ...(signer === undefined ? {} : { signer: signer.probe }) };
}

function advisory(shared: SharedParts): Probes {
  return {
    directory: () => directoryHealth(shared),
    clock: shared.directoryClock.health,
    ...shared.advisory,
  };
}

function directoryHealth({ participantKeys, statuses }: SharedParts): { ok: boolean; detail?: string } {
  const { failing, oldestSeconds } = participantKeys.health();
  const listSeconds = statuses.failingSeconds();
  const faults = [
    ...(listSeconds === undefined
      ? []
      : [`the status list is ${listSeconds} s old and could not be renewed`]),
    ...(failing ? [`key sets are up to ${oldestSeconds} s old and could not be renewed`] : []),
  ];
  return faults.length === 0 ? { ok: true } : { ok: false, detail: faults.join("; ") };
}
