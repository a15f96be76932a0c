/** A store whose database a test exchanges while the platform is stopped. */
import { openStore } from "../../src/base/store/open_store.ts";
import type { Entry, Key, Store } from "../../src/base/store/store.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";

export interface MovingStore extends Store {
  /**
   * Stops the platform, closes the database, runs some work, and starts the platform on the database that the work
   * returns the URL of.
   */
  move(env: Environment, work: () => Promise<string>): Promise<void>;
}

export async function openMovingStore(url: string): Promise<MovingStore> {
  const open = (at: string): Promise<Store> => openStore(at, { program: "platform", issuer: AUTH_URL });
  let store = await open(url);
  return {
    get: <T>(key: Key): Promise<Entry<T> | null> => store.get<T>(key),
    getMany: (keys) => store.getMany(keys),
    list: (listing) => store.list(listing),
    commit: (commit) => store.commit(commit),
    close: () => store.close(),
    async move(env, work) {
      await env.platform.stop();
      await store.close();
      store = await open(await work());
      await env.restart();
    },
  };
}
