/**
 * The targets of the fuzzer: a platform and a directory in this process, each on an observed store, with stopped
 * clocks.
 */
import { type DirectoryEnvironment, openDirectoryEnvironment } from "../../testing/directory_environment.ts";
import { type Environment, openEnvironment } from "../../testing/environment.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Answer } from "./parts.ts";
import { type Attempt, type Host, requestOf } from "./sample_request.ts";
import type { Entry, Key, Store, Write } from "../../../src/base/store/store.ts";

/** An app or its wrapper. */
export type Handler = (request: Request) => Promise<Response>;

/** Wraps an app, to test that the fuzzer finds planted faults. */
export type Plant = (app: Handler, host: Host, store: WatchedStore) => Handler;

const asItIs: Plant = (app) => app;

/** The effects of one attempt. */
export interface Impact {
  /** Undefined if the app threw. */
  readonly answer?: Answer;
  /** Errors that the app threw or logged as its own. */
  readonly failures: readonly string[];
  /** The first parts of the written keys, without replay records and rate limits. */
  readonly written: readonly string[];
}

/** Both environments. */
export interface Fixture extends AsyncDisposable {
  readonly env: Environment;
  readonly directory: DirectoryEnvironment;
  /** Makes the current state the start of every attempt. */
  settle(): void;
  /** Wraps each app from now on; without a plant the apps are as they are. */
  wrap(plant?: Plant): void;
  /** Sends the attempt and undoes its changes. */
  fire(attempt: Attempt): Promise<Impact>;
}

/** Opens the environments. */
export async function openFixture(): Promise<Fixture> {
  const [store, directoryStore] = [
    watch(await openDenoKv(":memory:", { isAsStored: true })),
    watch(await openDenoKv(":memory:")),
  ];
  const environment = { PLATFORM_LOG_LEVEL: "error" };
  const env = await openEnvironment({ store, environment });
  const failures: string[] = [];
  const log = {
    info: () => {},
    warn: () => {},
    error: (event: string, fields: unknown) => void failures.push(`${event} ${JSON.stringify(fields)}`),
  };
  const directory = await openDirectoryEnvironment({ store: directoryStore, log });
  const wrapped = (plant: Plant): Readonly<Record<Host, Handler>> => ({
    api: plant((request) => env.platform.api.fetch(request), "api", store),
    browser: plant((request) => env.platform.browser.fetch(request), "browser", store),
    operations: plant((request) => env.platform.operations.fetch(request), "operations", store),
    directory: plant(directory.fetch, "directory", directoryStore),
  });
  let apps = wrapped(asItIs);
  return {
    env,
    directory,
    settle() {
      for (const each of [store, directoryStore]) each.keep();
    },
    wrap(plant = asItIs) {
      apps = wrapped(plant);
    },
    async fire(attempt) {
      const answer = await sendAttempt(apps[attempt.host], attempt, failures);
      const stores = [store, directoryStore];
      const written = new Set(stores.flatMap((each) => each.changes()).map(([kind = ""]) => kind));
      for (const each of stores) await each.undo();
      const said = [...failures.splice(0), ...env.logged.splice(0).filter(isFailure)];
      env.fetched.length = 0;
      return { ...(answer === undefined ? {} : { answer }), failures: said, written: [...written] };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await env[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
      directoryStore.close();
    },
  };
}

/** Whether a line of the platform's log is an error. The only others that it writes here are security events. */
function isFailure(line: string): boolean {
  return !line.includes('"level":"security"');
}

async function sendAttempt(app: Handler, attempt: Attempt, failures: string[]): Promise<Answer | undefined> {
  try {
    const response = await app(requestOf(attempt));
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    failures.push(error instanceof Error ? error.stack ?? error.message : String(error));
    return undefined;
  }
}

export interface WatchedStore extends Store {
  /**
   * Keys written since the last {@link WatchedStore.undo} or {@link WatchedStore.keep}, without replay records, rate limits,
   * copies of the directory and the platform's own key, which its first receipt or a background job stores.
   */
  changes(): readonly Key[];
  /** Accepts the writes so far. */
  keep(): void;
  /**
   * Restores the values, including replay records, so that a signed request can be sent again. Versions are not
   * restored.
   */
  undo(): Promise<void>;
}

type Former = readonly [key: Key, entry: Entry<unknown> | null];

const ALWAYS_WRITABLE: readonly string[] = [
  "spent_jwt",
  "rate_bucket",
  "kept_copy",
  "kept_piece",
  "age_mark",
  "receipt_key",
];

/** Wraps a store. Earlier writes are not recorded. */
function watch(store: Store): WatchedStore {
  const formers = new Map<string, Former>();
  return {
    get: (key) => store.get(key),
    getMany: (keys) => store.getMany(keys),
    list: (listing) => store.list(listing),
    close: () => store.close(),
    async commit(commit) {
      const keys = commit.writes.map(({ key }) => key);
      const entries = await store.getMany<unknown>(keys);
      if (!await store.commit(commit)) return false;
      keys.forEach((key, index) => {
        const name = JSON.stringify(key);
        if (!formers.has(name)) formers.set(name, [key, entries[index] ?? null]);
      });
      return true;
    },
    changes: () =>
      [...formers.values()].map(([key]) => key).filter(([kind = ""]) => !ALWAYS_WRITABLE.includes(kind)),
    keep: () => formers.clear(),
    async undo() {
      const writes = [...formers.values()].map(restoring);
      formers.clear();
      if (writes.length > 0) await store.commit({ checks: [], writes });
    },
  };
}

function restoring([key, entry]: Former): Write {
  return entry === null ? { kind: "delete", key } : { kind: "set", key, value: entry.value };
}
