/**
 * Participants' keys as the directory publishes them now (Decision A9): which key verifies, which certificate is
 * the participant's, which key to seal to. A key that is revoked, or whose owner is not Active, is none.
 */
import type { Clock } from "../../base/kernel/clock.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { type Verdict, yes } from "../../base/kernel/verdict.ts";
import type { NamedKey } from "../../base/jose/sealed_jwt.ts";
import type { Log } from "../../base/observability/log.ts";
import { type FetchJson, keysOf } from "./guarded_fetch.ts";
import { comparable, importKeySet, KEY_SET_TIMES, type KeySet } from "./key_set.ts";
import { type RenewedCopy, renewedCopy } from "./renewed_copy.ts";

/** Whose keys, and where they are published. */
export interface KeySource {
  readonly clientId: ClientId;
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
  /** What is known of the directory, for readiness; `oldestSeconds` is of the copies that could not be renewed. */
  health(): { readonly failing: boolean; readonly oldestSeconds: number };
}

/** What it needs. */
export interface ParticipantKeysDeps {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  readonly log: Log;
  /** The version of the participant that the directory's status list shows. */
  readonly versionOf: (clientId: ClientId) => number | undefined;
}

/** Opens the copies, one a participant. */
export function openParticipantKeys(deps: ParticipantKeysDeps): ParticipantKeySets {
  const copies = new Map<string, RenewedCopy<KeySet>>();
  const of = (source: KeySource): RenewedCopy<KeySet> => copyOf(deps, copies, source);
  return {
    signingKey: (source, kid) => of(source).find(({ signing }) => signing.get(comparable(kid))),
    async ownsTransportKey(source, spkiThumbprint) {
      const found = await of(source).find(({ transport }) => transport.has(spkiThumbprint) || undefined);
      return found === true;
    },
    encryptionKey: async (source) => (await of(source).read()).encryption[0],
    isActive: async (source) => (await of(source).read()).signing.size > 0,
    health() {
      const ages = [...copies.values()].map((copy) => copy.failingSeconds()).filter((age) =>
        age !== undefined
      );
      return { failing: ages.length > 0, oldestSeconds: Math.max(0, ...ages) };
    },
  };
}

function copyOf(
  deps: ParticipantKeysDeps,
  copies: Map<string, RenewedCopy<KeySet>>,
  source: KeySource,
): RenewedCopy<KeySet> {
  const name = `${source.jwksUri} ${source.revokedJwksUri}`;
  const known = copies.get(name);
  if (known !== undefined) return known;
  const opened = renewedCopy({
    clock: deps.clock,
    name,
    times: KEY_SET_TIMES,
    fetch: () => fetchKeys(deps, source),
    version: () => deps.versionOf(source.clientId),
  });
  copies.set(name, opened);
  return opened;
}

/** Both lists or nothing: an active set without its revoked one cannot be trusted. */
async function fetchKeys(deps: ParticipantKeysDeps, source: KeySource): Promise<Verdict<KeySet>> {
  const [active, revoked] = await Promise.all([
    fetchList(deps, source.jwksUri),
    fetchList(deps, source.revokedJwksUri),
  ]);
  if (!active.ok) return active;
  if (!revoked.ok) return revoked;
  return yes(await importKeySet(active.value, revoked.value));
}

async function fetchList(deps: ParticipantKeysDeps, url: string): Promise<Verdict<readonly unknown[]>> {
  const document = await deps.fetchJson(url);
  const keys = document.ok ? keysOf(document.value) : document;
  if (!keys.ok) deps.log.warn("participants.keys_unavailable", { url, why: keys.why });
  return keys;
}
