/** Apps with planted faults for the fuzzer to find. */
import type { Handler, Plant } from "../../scripts/proofs/fuzz/targets.ts";
import type { Host } from "../../scripts/proofs/fuzz/sample_request.ts";
import type { WatchedStore } from "../../scripts/proofs/fuzz/store.ts";

/** Wraps one of the apps. */
export function around(wrapped: Host, wrap: (app: Handler, store: WatchedStore) => Handler): Plant {
  return (app, host, store) => host === wrapped ? wrap(app, store) : app;
}

/** An app that repeats the last valid request at a path for every request there. */
export function lenient(path: string): Plant {
  return (app, _, store) => {
    const good = new Map<string, Request>();
    return async (request) => {
      const { pathname } = new URL(request.url);
      const known = good.get(pathname);
      const kept = request.clone();
      const answer = await app(request);
      if (!pathname.includes(path)) return answer;
      if (answer.status < 400 && known === undefined) good.set(pathname, kept);
      if (answer.status < 400 || known === undefined) return answer;
      await store.undo(); // the proof may be used up already
      return await app(known.clone());
    };
  };
}
