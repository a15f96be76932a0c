/**
 * The directory's own keys, which sign software statements, by kid. They are fetched from the configured URL
 * (Decision A9).
 */
import type { AgesClock } from "../../../base/kernel/clock.ts";
import { because, ok } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import { type FetchJson, keysOf } from "./guarded_fetch.ts";
import type { KeepCopies } from "./kept_copy_store.ts";
import {
  hasLostKeys,
  importKeySet,
  KEY_SET_TIMES,
  type KeySet,
  normaliseKid,
  readKeySet,
} from "./participant_keys.ts";
import { renewedCopy } from "./renewed_copy.ts";

/**
 * Finds the key that a software statement names.
 *
 * @throws {ApiError} `platform.unavailable` without a fresh copy
 */
export type FindDirectoryKey = (kid: string) => Promise<CryptoKey | undefined>;

export function openDirectoryKeys(deps: {
  readonly fetchJson: FetchJson;
  readonly ages: AgesClock;
  readonly keep: KeepCopies;
  readonly log: Log;
  readonly jwksUri: string;
}): FindDirectoryKey {
  const { ages, jwksUri: name } = deps;
  const copy = renewedCopy<KeySet>({
    ages,
    name,
    times: KEY_SET_TIMES,
    kept: deps.keep(name, { write: ({ published }) => published, read: readKeySet }),
    async fetch(former) {
      const document = await deps.fetchJson(name);
      const keys = document.ok ? keysOf(document.value) : document;
      if (!keys.ok) return keys;
      const set = await importKeySet(keys.value, []);
      if (former === undefined || !hasLostKeys(former, set)) return ok(set);
      deps.log.error("participants.key_set_emptied", { url: name });
      return because("no usable key");
    },
  });
  return (kid) => copy.find(({ signing }) => signing.get(normaliseKid(kid)));
}
