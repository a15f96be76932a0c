/**
 * Participants' current keys, as the directory publishes them (Decision A9): verification keys, certificate keys and
 * encryption keys. A key that is revoked, or whose owner is not Active, is not found.
 */
import type { AgesClock } from "../../../base/kernel/clock.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import { because, type Failure, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import type { NamedKey } from "../../../base/jose/sealed_jwt.ts";
import type { Log } from "../../observed/log_events.ts";
import { type FetchJson, keysOf } from "./guarded_fetch.ts";
import type { KeepCopies } from "./kept_copy_store.ts";
import {
  comparable,
  hasLostKeys,
  importKeySet,
  KEY_SET_TIMES,
  type KeySet,
  kidFault,
  type PublishedKeys,
  readKeySet,
  readPublished,
} from "./key_set.ts";
import { type FetchedCopy, type RenewedCopy, renewedCopy } from "./renewed_copy.ts";
import type { ListedStatus } from "./status_list.ts";

/** A participant and the URLs of its key sets. */
export interface KeySource {
  readonly clientId: ClientId;
  readonly jwksUri: string;
  readonly revokedJwksUri: string;
}

/** Reads participants' keys. Every method throws `platform.unavailable` without a fresh enough copy. */
export interface ParticipantKeySets {
  signingKey(source: KeySource, kid: string): Promise<CryptoKey | undefined>;
  /** Explains why no current signing key has this kid. */
  kidFault(source: KeySource, kid: unknown): Promise<Failure>;
  ownsTransportKey(source: KeySource, spkiThumbprint: string): Promise<boolean>;
  encryptionKey(source: KeySource): Promise<NamedKey | undefined>;
  /** Whether the directory still publishes a signing key of the participant. */
  isActive(source: KeySource): Promise<boolean>;
  /**
   * Returns the keys as published, for background work: the stored copy of any age, unless the directory is known to have
   * published another version since. Then it is fetched.
   */
  published(source: KeySource): Promise<PublishedKeys>;
  /**
   * The state of the copies, for readiness. `oldestSeconds` is the largest age of copies that could not be renewed.
   */
  health(): { readonly failing: boolean; readonly oldestSeconds: number };
  /** Returns the age of every copy, and whether its last renewal failed. */
  ages(): readonly KeySetAge[];
}

export interface KeySetAge {
  readonly clientId: ClientId;
  readonly seconds: number;
  readonly failing: boolean;
}

export interface ParticipantKeysDeps {
  readonly fetchJson: FetchJson;
  readonly ages: AgesClock;
  readonly keep: KeepCopies;
  readonly log: Log;
  /** Returns the participant's entry in the directory's status list, from a copy of any age. */
  readonly listed: (clientId: ClientId) => Pick<ListedStatus, "version" | "standing"> | undefined;
}

/** Opens the copies, one per participant. */
export function openParticipantKeys(deps: ParticipantKeysDeps): ParticipantKeySets {
  const copies: Copies = new Map();
  const of = (source: KeySource): RenewedCopy<KeySet> => copyOf(deps, copies, source);
  return {
    signingKey: (source, kid) => of(source).find(({ signing }) => signing.get(comparable(kid))),
    kidFault: async (source, kid) => kidFault(await of(source).read(), kid),
    async ownsTransportKey(source, spkiThumbprint) {
      const found = await of(source).find(({ transport }) => transport.has(spkiThumbprint) || undefined);
      return found === true;
    },
    encryptionKey: async (source) => (await of(source).read()).encryption[0],
    published: async (source) => await storedKeys(deps, source) ?? (await of(source).read()).published,
    isActive: async (source) => (await of(source).read()).signing.size > 0,
    health() {
      const ages = [...copies.values()].map(({ copy }) => copy.failingSeconds()).filter((age) =>
        age !== undefined
      );
      return { failing: ages.length > 0, oldestSeconds: Math.max(0, ...ages) };
    },
    ages: () =>
      [...copies.values()].flatMap(({ clientId, copy }) => {
        const seconds = copy.ageSeconds();
        return seconds === undefined
          ? []
          : { clientId, seconds, failing: copy.failingSeconds() !== undefined };
      }),
  };
}

/** Imports no key: a sweep over every participant needs none. */
async function storedKeys(
  { keep, listed }: ParticipantKeysDeps,
  source: KeySource,
): Promise<PublishedKeys | undefined> {
  const read = (document: unknown): Promise<Result<PublishedKeys, Reason>> =>
    Promise.resolve(readPublished(document));
  const kept = await keep<PublishedKeys>(nameOf(source), { write: (keys) => keys, read }).load();
  const version = listed(source.clientId)?.version;
  return version === undefined || kept?.version === version ? kept?.value : undefined;
}

function nameOf({ jwksUri, revokedJwksUri }: KeySource): string {
  return `${jwksUri} ${revokedJwksUri}`;
}

/** By the addresses of the key sets. */
type Copies = Map<string, { readonly clientId: ClientId; readonly copy: RenewedCopy<KeySet> }>;

function copyOf(
  deps: ParticipantKeysDeps,
  copies: Copies,
  source: KeySource,
): RenewedCopy<KeySet> {
  const name = nameOf(source);
  const known = copies.get(name);
  if (known !== undefined) return known.copy;
  const opened = renewedCopy<KeySet>({
    ages: deps.ages,
    name,
    times: KEY_SET_TIMES,
    fetch: (former) => fetchKeys(deps, source, former),
    kept: deps.keep(name, { write: ({ published }) => published, read: readKeySet }),
    version: () => deps.listed(source.clientId)?.version,
  });
  copies.set(name, { clientId: source.clientId, copy: opened });
  return opened;
}

/** Fetches both lists or fails, because an active set without its revoked keys cannot be trusted. */
async function fetchKeys(
  deps: ParticipantKeysDeps,
  source: KeySource,
  former: KeySet | undefined,
): Promise<FetchedCopy<KeySet>> {
  const [active, revoked] = await Promise.all([
    fetchList(deps, source.jwksUri),
    fetchList(deps, source.revokedJwksUri),
  ]);
  if (!active.ok) return active;
  if (!revoked.ok) return revoked;
  const set = await importKeySet(active.value, revoked.value);
  if (former === undefined || !hasLostKeys(former, set)) return ok(set);
  return await withoutKeys(deps, source, former, set);
}

/**
 * A set that has lost its keys is accepted if the directory explains it: they are revoked, or their owner is not
 * active. Otherwise it is a fault of the directory, and the unrevoked keys of the former copy are used for the rest
 * of its 900 s.
 */
async function withoutKeys(
  { log, listed }: ParticipantKeysDeps,
  { clientId, jwksUri: url }: KeySource,
  former: KeySet,
  set: KeySet,
): Promise<FetchedCopy<KeySet>> {
  const remaining = await importKeySet(former.published.active, set.published.revoked);
  if (!hasLostKeys(remaining, set) || listed(clientId)?.standing !== "active") return ok(set);
  log.error("participants.key_set_emptied", { url });
  return { ...because("no usable key to sign or to connect with"), remaining };
}

async function fetchList(
  deps: ParticipantKeysDeps,
  url: string,
): Promise<Result<readonly unknown[], Reason>> {
  const document = await deps.fetchJson(url);
  const keys = document.ok ? keysOf(document.value) : document;
  if (!keys.ok) deps.log.warn("participants.keys_unavailable", { url, why: keys.fault.why });
  return keys;
}
