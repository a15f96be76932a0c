/** Several processes of the platform on one store. */
import type { ProcessIdentity } from "../../src/platform/operations/process_store.ts";
import { composePlatform, type Platform } from "../../src/platform/process/compose.ts";
import { openKeyRing } from "../../src/base/jose/key_ring.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Store } from "../../src/base/store/store.ts";
import { type Environment, throughProxy } from "testing/environment.ts";
import { MARIA, OPERATIONS_URL, testOperators } from "testing/operators.ts";
import type { Participant } from "testing/participants.ts";

/**
 * Composes the platform again, over the environment's store.
 *
 * @param aheadMs offset of its computer's clock from `env.now`
 */
export async function anotherProcess(
  env: Environment,
  aheadMs: () => number = () => 0,
  identity?: ProcessIdentity,
): Promise<Platform> {
  return await composePlatform({
    config: env.config,
    store: env.store,
    clock: () => env.now + aheadMs(),
    monotonic: () => env.now,
    fetch: ((input: Request | string | URL, init?: RequestInit) =>
      env.network(new Request(input, init))) as typeof fetch,
    log: (line) =>
      void env.logged.push(line),
    keys: await openKeyRing(env.config.keys),
    caseKeys: env.caseKeys,
    operators: await testOperators(),
    ...(identity === undefined ? {} : { identity }),
  });
}

/** The environment with its requests, also those of operator maria, sent to another process on the same store. */
export function at(env: Environment, { api, browser, operations }: Platform): Environment {
  return Object.assign(Object.create(env), {
    api: (request: Request, as?: Participant) => api.fetch(throughProxy(request, as)),
    browser: (request: Request) => browser.fetch(request),
    asOperator: (path: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      headers.set("authorization", MARIA.authorization);
      return operations.fetch(new Request(`${OPERATIONS_URL}${path}`, { ...init, headers }));
    },
  });
}

/** An in-memory store that counts commits, and those of them whose checks failed. */
export interface RacedStore extends Store {
  commits: number;
  lost: number;
}

export async function openRacedStore(): Promise<RacedStore> {
  const store = await openTestStore();
  const raced: RacedStore = {
    ...store,
    commits: 0,
    lost: 0,
    async commit(staged) {
      const done = await store.commit(staged);
      raced.commits++;
      if (!done) raced.lost++;
      return done;
    },
  };
  return raced;
}
