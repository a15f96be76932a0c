/**
 * A store that is broken on purpose: it checks, and then writes piece by piece, as a program would that has no atomic
 * commit. A process takes it in place of the real one by an import map (`replaced_module.ts`), never by its code.
 */
import { DENO_KV_FILES as WHOLE_FILES, openDenoKv as openWhole } from "../../src/base/store/deno_kv.ts";
import type { FileEngine, OpeningHooks } from "../../src/base/store/file_engine.ts";
import type { Commit, Store } from "../../src/base/store/store.ts";

export const DENO_KV_FILES: FileEngine = { ...WHOLE_FILES, open: openDenoKv };

/** The real store, with commits taken apart. */
export async function openDenoKv(path: string, hooks?: OpeningHooks): Promise<Store> {
  const store = await openWhole(path, hooks);
  return { ...store, commit: (staged) => commitInPieces(store, staged) };
}

async function commitInPieces(store: Store, { checks, writes }: Commit): Promise<boolean> {
  for (const { key, version } of checks) {
    if (((await store.get(key))?.version ?? null) !== version) return false;
  }
  for (const write of writes) await store.commit({ checks: [], writes: [write] });
  return true;
}
