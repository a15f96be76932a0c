/** The directory's own keys, which sign software statements: from the configured URL, by kid (Decision A9). */
import type { Clock } from "../../base/kernel/clock.ts";
import { yes } from "../../base/kernel/verdict.ts";
import { type FetchJson, keysOf } from "./guarded_fetch.ts";
import { comparable, importKeySet, KEY_SET_TIMES, type KeySet } from "./key_set.ts";
import { renewedCopy } from "./renewed_copy.ts";

/** Finds the key that a software statement names. @throws {ApiError} `platform.unavailable` without a fresh copy */
export type FindDirectoryKey = (kid: string) => Promise<CryptoKey | undefined>;

/** Opens the copy of the directory's keys. */
export function openDirectoryKeys(deps: {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  readonly jwksUri: string;
}): FindDirectoryKey {
  const copy = renewedCopy<KeySet>({
    clock: deps.clock,
    name: deps.jwksUri,
    times: KEY_SET_TIMES,
    async fetch() {
      const document = await deps.fetchJson(deps.jwksUri);
      const keys = document.ok ? keysOf(document.value) : document;
      return keys.ok ? yes(await importKeySet(keys.value, [])) : keys;
    },
  });
  return (kid) => copy.find(({ signing }) => signing.get(comparable(kid)));
}
