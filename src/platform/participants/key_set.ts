/** A published key set, imported: which kid verifies, which key encrypts, which certificate keys are the participant's. */
import {
  importRsaPublicKey,
  readRsaPublicJwk,
  type RsaPublicJwk,
  spkiThumbprint,
} from "../../base/jose/rsa_key.ts";
import type { NamedKey } from "../../base/jose/sealed_jwt.ts";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import { no, type Verdict, yes } from "../../base/kernel/verdict.ts";
import type { CopyTimes } from "./renewed_copy.ts";

/** Imported keys by use. A key has exactly one use (contract DC17). */
export interface KeySet {
  readonly signing: ReadonlyMap<string, CryptoKey>;
  /** SPKI thumbprints of the `use: tls` keys. */
  readonly transport: ReadonlySet<string>;
  /** For sealing to the participant, newest first: `use: enc` keys, or the `tls` ones where there is none. */
  readonly encryption: readonly NamedKey[];
  /** What the directory published, to be kept and read again. */
  readonly published: PublishedKeys;
}

/** The members of a participant's two key sets, as published. */
export interface PublishedKeys {
  readonly active: readonly unknown[];
  readonly revoked: readonly unknown[];
}

/** How long a copy of a key set is used unasked, unless the status list says that the set has changed (Decision A9). */
export const KEY_SET_TIMES: CopyTimes = { fresh: 300_000, retry: 30_000 };

interface UsableKey {
  readonly kid: string;
  readonly use: "sig" | "tls" | "enc";
  readonly jwk: RsaPublicJwk;
}

/** Imports what is usable of a key set, leaving out revoked kids and everything malformed, unsized or unused. */
export async function importKeySet(
  active: readonly unknown[],
  revoked: readonly unknown[],
): Promise<KeySet> {
  const revokedKids = new Set(revoked.map(kidOf).filter((kid) => kid !== undefined).map(comparable));
  const usable = active.flatMap(usableKey).filter(({ kid }) => !revokedKids.has(comparable(kid)));
  const of = (use: UsableKey["use"]): UsableKey[] => usable.filter((key) => key.use === use);
  const sealing = of("enc").length > 0 ? of("enc") : of("tls"); // Decision A10
  const [signing, transport, encryption] = await Promise.all([
    Promise.all(
      of("sig").map(async (key) =>
        [comparable(key.kid), await importRsaPublicKey(key.jwk, "verify")] as const
      ),
    ),
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

/** A key set that was kept, judged like a fresh one. */
export async function readKeySet(document: unknown): Promise<Verdict<KeySet>> {
  if (typeof document !== "object" || document === null || !("active" in document && "revoked" in document)) {
    return no("no kept key set");
  }
  const { active, revoked } = document;
  return Array.isArray(active) && Array.isArray(revoked)
    ? yes(await importKeySet(active, revoked))
    : no("no kept key set");
}

/** Whether no usable key is left to sign, or to connect with, of a set that had one. */
export function hasLostKeys(former: KeySet, now: KeySet): boolean {
  return (former.signing.size > 0 && now.signing.size === 0) ||
    (former.transport.size > 0 && now.transport.size === 0);
}

/** A kid as it is compared: x5t kids are seen with and without padding (Decision A11). */
export function comparable(kid: string): string {
  return kid.replace(/=+$/, "");
}

function usableKey(entry: unknown): UsableKey[] {
  const kid = kidOf(entry);
  const jwk = readRsaPublicJwk(entry);
  if (kid === undefined || kid === "" || !jwk.ok) return [];
  const { use, alg, key_ops: operations } = entry as JsonObject;
  if (use !== "sig" && use !== "tls" && use !== "enc") return []; // a key without `use` has no purpose here
  if (use === "sig" && alg !== undefined && alg !== "PS256") return [];
  if (use === "sig" && Array.isArray(operations) && !operations.includes("verify")) return [];
  return [{ kid, use, jwk: jwk.value }];
}

function kidOf(entry: unknown): string | undefined {
  if (typeof entry !== "object" || entry === null || !("kid" in entry)) return undefined;
  return typeof entry.kid === "string" ? entry.kid : undefined;
}

async function transportThumbprint({ jwk }: UsableKey): Promise<string> {
  return await spkiThumbprint(await crypto.subtle.exportKey("spki", await importRsaPublicKey(jwk, "verify")));
}

/** A kid that two signing keys claim names neither of them (contract DC15: never "the first"). */
function unambiguous(keys: readonly (readonly [string, CryptoKey])[]): Map<string, CryptoKey> {
  const seen = new Map<string, number>();
  for (const [kid] of keys) seen.set(kid, (seen.get(kid) ?? 0) + 1);
  return new Map(keys.filter(([kid]) => seen.get(kid) === 1));
}
