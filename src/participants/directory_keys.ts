/** The directory's own keys, which sign software statements: from the configured URL, kept 300 s, by kid. */
import type { Clock } from "../kernel/clock.ts";
import { Refusal } from "../kernel/refusal.ts";
import { type FetchJson, keysOf } from "./guarded_fetch.ts";
import { comparable, importKeySet, type KeySet } from "./key_set.ts";

/** Finds the key that a software statement names. @throws {Refusal} `platform.unavailable` without any copy */
export type FindDirectoryKey = (kid: string) => Promise<CryptoKey | undefined>;

const FRESH_MS = 300_000;
const RETRY_MS = 30_000;
const MAX_STALE_MS = 900_000;

/** Opens the cache of the directory's keys. */
export function openDirectoryKeys(deps: {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  readonly jwksUri: string;
}): FindDirectoryKey {
  let copy: { readonly keys: KeySet; readonly fetchedAt: number } | undefined;
  let triedAt = 0;
  async function refresh(): Promise<void> {
    triedAt = deps.clock();
    const document = await deps.fetchJson(deps.jwksUri);
    const keys = document.ok ? keysOf(document.value) : document;
    if (keys.ok) copy = { keys: await importKeySet(keys.value, []), fetchedAt: triedAt };
  }
  return async function findDirectoryKey(kid) {
    if (copy === undefined || deps.clock() - copy.fetchedAt >= FRESH_MS) await refresh();
    const found = copy?.keys.signing.get(comparable(kid));
    if (found === undefined && deps.clock() - triedAt >= RETRY_MS) await refresh();
    if (copy === undefined || deps.clock() - copy.fetchedAt > MAX_STALE_MS) {
      throw new Refusal("platform.unavailable", {
        detail: "directory keys",
        retryAfterSeconds: RETRY_MS / 1000,
      });
    }
    return found ?? copy.keys.signing.get(comparable(kid));
  };
}
