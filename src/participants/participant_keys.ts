/**
 * Participants' keys as the directory publishes them now (Decision A9): fetched, kept 300 s, asked again at most
 * every 30 s for an unknown kid, the last good copy kept while the directory is down, and nothing trusted once
 * the revoked list is older than 900 s.
 */
import type { Clock } from "../kernel/clock.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { NamedKey } from "../jose/sealed_jwt.ts";
import type { Log } from "../observability/log.ts";
import { type FetchJson, keysOf } from "./guarded_fetch.ts";
import { comparable, importKeySet, type KeySet } from "./key_set.ts";

/** Where a participant's keys are published. */
export interface KeySource {
  readonly jwksUri: string;
  readonly revokedJwksUri: string;
}

/** The platform's view of participants' keys; every method throws `platform.unavailable` without a fresh enough copy. */
export interface ParticipantKeySets {
  signingKey(source: KeySource, kid: string): Promise<CryptoKey | undefined>;
  ownsTransportKey(source: KeySource, spkiThumbprint: string): Promise<boolean>;
  encryptionKey(source: KeySource): Promise<NamedKey | undefined>;
  /** Whether the directory still publishes a signing key: no key, no standing. */
  isActive(source: KeySource): Promise<boolean>;
  /** What is known of the directory, for readiness. */
  health(): { readonly failing: boolean; readonly oldestSeconds: number };
}

/** What it needs. */
export interface ParticipantKeysDeps {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  readonly log: Log;
}

interface Copy {
  readonly keys: KeySet;
  /** Milliseconds. */
  readonly fetchedAt: number;
}

interface Cached {
  copy?: Copy;
  triedAt: number;
  fetching?: Promise<void>;
}

const FRESH_MS = 300_000;
const RETRY_MS = 30_000;
const MAX_STALE_MS = 900_000;

/** Opens the cache. */
export function openParticipantKeys(deps: ParticipantKeysDeps): ParticipantKeySets {
  const cache = new Map<string, Cached>();
  const current = (source: KeySource): Promise<KeySet> => currentKeys(deps, cache, source);
  return {
    async signingKey(source, kid) {
      return await lookUp(deps, cache, source, (keys) => keys.signing.get(comparable(kid)));
    },
    async ownsTransportKey(source, spkiThumbprint) {
      return await lookUp(deps, cache, source, (keys) => keys.transport.has(spkiThumbprint) || undefined) ??
        false;
    },
    async encryptionKey(source) {
      return (await current(source)).encryption[0];
    },
    async isActive(source) {
      return (await current(source)).signing.size > 0;
    },
    health: () => health(deps.clock(), cache),
  };
}

/** Looks a key up; an unknown one may be new, so the directory is asked again, though not for every stranger's guess. */
async function lookUp<T>(
  deps: ParticipantKeysDeps,
  cache: Map<string, Cached>,
  source: KeySource,
  find: (keys: KeySet) => T | undefined,
): Promise<T | undefined> {
  const found = find(await currentKeys(deps, cache, source));
  if (found !== undefined) return found;
  const cached = cacheOf(cache, source);
  if (deps.clock() - cached.triedAt < RETRY_MS) return undefined;
  await refresh(deps, cached, source);
  return find(await currentKeys(deps, cache, source));
}

async function currentKeys(
  deps: ParticipantKeysDeps,
  cache: Map<string, Cached>,
  source: KeySource,
): Promise<KeySet> {
  const cached = cacheOf(cache, source);
  const age = deps.clock() - (cached.copy?.fetchedAt ?? 0);
  const mayAsk = cached.copy === undefined || deps.clock() - cached.triedAt >= RETRY_MS;
  if (age >= FRESH_MS && mayAsk) await refresh(deps, cached, source);
  const { copy } = cached;
  if (copy === undefined || deps.clock() - copy.fetchedAt > MAX_STALE_MS) { // revoked keys must not live on
    throw new Refusal("platform.unavailable", {
      detail: "no fresh key set",
      retryAfterSeconds: RETRY_MS / 1000,
    });
  }
  return copy.keys;
}

function cacheOf(cache: Map<string, Cached>, { jwksUri, revokedJwksUri }: KeySource): Cached {
  const name = `${jwksUri} ${revokedJwksUri}`;
  const known = cache.get(name);
  if (known !== undefined) return known;
  const fresh: Cached = { triedAt: 0 };
  cache.set(name, fresh);
  return fresh;
}

/** One fetch at a time per participant; who comes meanwhile waits for the same one. */
function refresh(deps: ParticipantKeysDeps, cached: Cached, source: KeySource): Promise<void> {
  cached.fetching ??= fetchKeys(deps, cached, source).finally(() => delete cached.fetching);
  return cached.fetching;
}

async function fetchKeys(deps: ParticipantKeysDeps, cached: Cached, source: KeySource): Promise<void> {
  const fetchedAt = deps.clock();
  cached.triedAt = fetchedAt;
  const [active, revoked] = await Promise.all([
    deps.fetchJson(source.jwksUri),
    deps.fetchJson(source.revokedJwksUri),
  ]);
  const keys = active.ok ? keysOf(active.value) : active;
  const revokedKeys = revoked.ok ? keysOf(revoked.value) : revoked;
  if (!keys.ok || !revokedKeys.ok) {
    const why = !keys.ok ? keys.why : !revokedKeys.ok ? revokedKeys.why : undefined;
    deps.log.warn("participants.keys_unavailable", { jwksUri: source.jwksUri, why });
    return;
  }
  cached.copy = { keys: await importKeySet(keys.value, revokedKeys.value), fetchedAt };
}

function health(now: number, cache: Map<string, Cached>): { failing: boolean; oldestSeconds: number } {
  const ages = [...cache.values()].map(({ copy }) => now - (copy?.fetchedAt ?? now));
  const failing = [...cache.values()].some(({ copy, triedAt }) =>
    copy === undefined || triedAt > copy.fetchedAt
  );
  return { failing, oldestSeconds: Math.floor(Math.max(0, ...ages) / 1000) };
}
