/** What is shot at: a platform and a directory in this process, each over a store under watch, with clocks that stand still. */
import { type DirectoryWorld, openDirectoryWorld } from "../testing/directory_environment.ts";
import { openWorld, type World } from "../testing/environment.ts";
import { openDenoKv } from "../../src/base/store/deno_kv.ts";
import type { Answer } from "./parts.ts";
import { type Host, requestOf, type Shot } from "./sample_request.ts";
import { watch, type WatchedStore } from "./store.ts";

/** The operator's token of the platform. */
export const OPERATOR_TOKEN = "an-operators-token-0123456789-abcdefghij";

/** An app, or one that is wrapped around it. */
export type Handler = (request: Request) => Promise<Response>;

/** Wraps an app, to see whether the fuzzer finds what is wrong with the wrapping. */
export type Plant = (app: Handler, host: Host, store: WatchedStore) => Handler;

/** What one shot led to. */
export interface Impact {
  /** Undefined where the app threw. */
  readonly answer?: Answer;
  /** What the app threw or logged as its own failure. */
  readonly failures: readonly string[];
  /** The first parts of the keys that were written, markers of used-up JWTs and rate limits left out. */
  readonly written: readonly string[];
}

/** Both worlds. */
export interface Ground extends AsyncDisposable {
  readonly world: World;
  readonly directory: DirectoryWorld;
  /** What is there now is what each shot finds. */
  settle(): void;
  /** Sends the shot, and takes back what it changed. */
  fire(shot: Shot): Promise<Impact>;
}

/** Opens it. */
export async function openGround(plant: Plant = (app) => app): Promise<Ground> {
  const [store, directoryStore] = [watch(await openDenoKv(":memory:")), watch(await openDenoKv(":memory:"))];
  const environment = { OPERATOR_TOKEN, LOG_LEVEL: "error" };
  const world = await openWorld({ store, environment });
  const failures: string[] = [];
  const log = {
    info: () => {},
    warn: () => {},
    error: (event: string, fields: unknown) => void failures.push(`${event} ${JSON.stringify(fields)}`),
  };
  const directory = await openDirectoryWorld({ store: directoryStore, log });
  const apps: Readonly<Record<Host, Handler>> = {
    api: plant((request) => world.platform.api.fetch(request), "api", store),
    browser: plant((request) => world.platform.browser.fetch(request), "browser", store),
    directory: plant(directory.fetch, "directory", directoryStore),
  };
  return {
    world,
    directory,
    settle() {
      for (const each of [store, directoryStore]) each.keep();
    },
    async fire(shot) {
      const answer = await answerOf(apps[shot.host], shot, failures);
      const stores = [store, directoryStore];
      const written = new Set(stores.flatMap((each) => each.changes()).map(([room = ""]) => room));
      for (const each of stores) await each.undo();
      const said = [...failures.splice(0), ...world.logged.splice(0)];
      world.fetched.length = 0;
      return { ...(answer === undefined ? {} : { answer }), failures: said, written: [...written] };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await world[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
      directoryStore.close();
    },
  };
}

async function answerOf(app: Handler, shot: Shot, failures: string[]): Promise<Answer | undefined> {
  try {
    const response = await app(requestOf(shot));
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    failures.push(error instanceof Error ? error.stack ?? error.message : String(error));
    return undefined;
  }
}
