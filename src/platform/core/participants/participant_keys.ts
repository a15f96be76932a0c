/**
 * The key sets that participants publish: how they are read and judged, and the copies that the platform keeps of
 * them.
 */
import "reflect-metadata"; // before @peculiar/x509
import type { AgesClock } from "../../../base/kernel/clock.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import {
  because,
  describedMismatch,
  type Failure,
  mismatch,
  ok,
  quote,
  type Reason,
  type Result,
} from "../../../base/kernel/result.ts";
import type { NamedKey } from "../../../base/jose/sealed_jwt.ts";
import type { Log } from "../../observed/log_events.ts";
import { type FetchJson, keysOf } from "./guarded_fetch.ts";
import type { KeepCopies } from "./kept_copy_store.ts";
import { type CopyTimes, type FetchedCopy, type RenewedCopy, renewedCopy } from "./renewed_copy.ts";
import type { ListedStatus } from "./status_list.ts";
import { X509Certificate } from "@peculiar/x509";
import {
  importRsaPublicKey,
  readRsaPublicJwk,
  type RsaPublicJwk,
  spkiThumbprint,
} from "../../../base/jose/rsa_key.ts";
import { isJsonObject } from "../../../base/kernel/json.ts";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import { rememberPublished } from "../../evidence/evidence_store.ts";

/** Imported keys by use. A key has exactly one use (contract DC17). */
export interface KeySet {
  readonly signing: ReadonlyMap<string, CryptoKey>;
  /** SPKI thumbprints of the `use: tls` keys. */
  readonly transport: ReadonlySet<string>;
  /** Keys to encrypt to the participant, newest first: the `use: enc` keys, or the `tls` keys if there is none. */
  readonly encryption: readonly NamedKey[];
  /** The published keys, to be stored and imported again. */
  readonly published: PublishedKeys;
}

/** The keys of a participant's two key sets, as published. */
export interface PublishedKeys {
  readonly active: readonly unknown[];
  readonly revoked: readonly unknown[];
}

/** How long a copy of a key set is used without renewal, unless the status list shows a change (Decision A9). */
export const KEY_SET_TIMES: CopyTimes = { fresh: 300_000, retry: 30_000 };

interface UsableKey {
  readonly kid: string;
  readonly use: "sig" | "tls" | "enc";
  readonly jwk: RsaPublicJwk;
  readonly published: JsonObject;
}

/**
 * Imports the usable keys of a set, without revoked kids and keys that are malformed, of a wrong size or without a
 * known use (contract J5, J35, J36).
 */
export async function importKeySet(active: readonly unknown[], revoked: readonly unknown[]): Promise<KeySet> {
  const usable = usableKeys(active, revoked);
  const of = (use: UsableKey["use"]): UsableKey[] => usable.filter((key) => key.use === use);
  const sealing = of("enc").length > 0 ? of("enc") : of("tls"); // Decision A10
  const [signing, transport, encryption] = await Promise.all([
    Promise.all(of("sig").map(async (key) => [normaliseKid(key.kid), await importSigningKey(key)] as const)),
    Promise.all(of("tls").map(transportThumbprint)),
    Promise.all(
      sealing.map(async ({ kid, jwk }) => ({ kid, key: await importRsaPublicKey(jwk, "encrypt") })),
    ),
  ]);
  return {
    signing: unambiguous(signing),
    transport: new Set(transport),
    encryption: encryption.toReversed(),
    published: { active, revoked },
  };
}

/** Imports a stored key set, with the same checks as a fresh one. */
export async function readKeySet(document: unknown): Promise<Result<KeySet, Reason>> {
  const published = readPublished(document);
  return published.ok ? ok(await importKeySet(published.value.active, published.value.revoked)) : published;
}

/** Reads a stored key set without importing its keys. */
export function readPublished(document: unknown): Result<PublishedKeys, Reason> {
  const { active, revoked }: Partial<JsonObject> = isJsonObject(document) ? document : {};
  return Array.isArray(active) && Array.isArray(revoked)
    ? ok({ active, revoked })
    : because("no kept key set");
}

/** A published key and the end of its certificate. */
export interface CertifiedKey {
  readonly kid: string;
  readonly use: "sig" | "tls" | "enc";
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** Returns the usable keys whose certificates can be read. */
export function certifiedKeys({ active, revoked }: PublishedKeys): readonly CertifiedKey[] {
  return usableKeys(active, revoked).flatMap(({ kid, use, published: { x5c } }) => {
    const [leaf] = Array.isArray(x5c) ? x5c : [];
    const expiresAt = typeof leaf === "string" ? certificateEnd(leaf) : undefined;
    return expiresAt === undefined ? [] : { kid, use, expiresAt };
  });
}

function certificateEnd(base64: string): number | undefined {
  try {
    return new X509Certificate(base64).notAfter.getTime();
  } catch {
    return undefined; // the directory publishes it, so it is no fault of a request
  }
}

/** Whether a set that had a usable signing or transport key has none any more. */
export function hasLostKeys(former: KeySet, now: KeySet): boolean {
  const isLost = (use: "signing" | "transport"): boolean => former[use].size > 0 && now[use].size === 0;
  return isLost("signing") || isLost("transport");
}

/** At most so many kids of the participant are named in a fault. */
const MAX_NAMED_KIDS = 4;

/** Explains to the participant itself why a kid names none of its current signing keys. */
export function kidFault({ signing, published }: KeySet, kid: unknown): Failure {
  const kids = [...signing.keys()].slice(0, MAX_NAMED_KIDS).map(quote).join(" or ");
  const expected = `the kid of your current signing key (use sig)${kids === "" ? "" : `: ${kids}`}`;
  const why = typeof kid === "string" ? whyNotSigning(published, kid) : undefined;
  return typeof kid === "string" && why !== undefined
    ? describedMismatch("header kid", expected, `${quote(kid)}, which is ${why}`)
    : mismatch("header kid", expected, kid);
}

function whyNotSigning({ active, revoked }: PublishedKeys, kid: string): string | undefined {
  const named = (entry: unknown): boolean => normaliseKid(kidOf(entry) ?? "") === normaliseKid(kid);
  if (revoked.some(named)) return "a revoked key";
  const uses = active.filter(named).map((entry) => (entry as JsonObject)["use"]);
  if (uses.includes("tls")) return "a transport key (use tls)";
  return uses.includes("enc") ? "an encryption key (use enc)" : undefined;
}

/** Normalizes a kid for comparison: x5t kids occur with and without padding (Decision A11). */
export function normaliseKid(kid: string): string {
  return kid.replace(/=+$/, "");
}

function usableKeys(active: readonly unknown[], revoked: readonly unknown[]): UsableKey[] {
  const revokedKids = new Set(revoked.map(kidOf).filter((kid) => kid !== undefined).map(normaliseKid));
  return active.flatMap(usableKey).filter(({ kid }) => !revokedKids.has(normaliseKid(kid)));
}

function usableKey(entry: unknown): UsableKey[] {
  const kid = kidOf(entry);
  const jwk = readRsaPublicJwk(entry);
  if (kid === undefined || kid === "" || !jwk.ok) return [];
  const { use, alg, key_ops: operations } = entry as JsonObject;
  if (use !== "sig" && use !== "tls" && use !== "enc") return []; // a key without `use` is not used
  if (use === "sig" && alg !== undefined && alg !== "PS256") return [];
  if (use === "sig" && Array.isArray(operations) && !operations.includes("verify")) return [];
  return [{ kid, use, jwk: jwk.value, published: entry as JsonObject }];
}

function kidOf(entry: unknown): string | undefined {
  const kid = isJsonObject(entry) ? entry["kid"] : undefined;
  return typeof kid === "string" ? kid : undefined;
}

async function importSigningKey({ jwk, published }: UsableKey): Promise<CryptoKey> {
  const key = await importRsaPublicKey(jwk, "verify");
  rememberPublished(key, published);
  return key;
}

async function transportThumbprint({ jwk }: UsableKey): Promise<string> {
  return await spkiThumbprint(await crypto.subtle.exportKey("spki", await importRsaPublicKey(jwk, "verify")));
}

/** Removes kids that two signing keys have (contract DC15: never "the first"). */
function unambiguous(keys: readonly (readonly [string, CryptoKey])[]): Map<string, CryptoKey> {
  const seen = new Map<string, number>();
  for (const [kid] of keys) seen.set(kid, (seen.get(kid) ?? 0) + 1);
  return new Map(keys.filter(([kid]) => seen.get(kid) === 1));
}

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
    signingKey: (source, kid) => of(source).find(({ signing }) => signing.get(normaliseKid(kid))),
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
  const kept = await keep<PublishedKeys>(sourceName(source), { write: (keys) => keys, read }).load();
  const version = listed(source.clientId)?.version;
  return version === undefined || kept?.version === version ? kept?.value : undefined;
}

function sourceName({ jwksUri, revokedJwksUri }: KeySource): string {
  return `${jwksUri} ${revokedJwksUri}`;
}

/** By the addresses of the key sets. */
type Copies = Map<string, { readonly clientId: ClientId; readonly copy: RenewedCopy<KeySet> }>;

function copyOf(deps: ParticipantKeysDeps, copies: Copies, source: KeySource): RenewedCopy<KeySet> {
  const name = sourceName(source);
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
