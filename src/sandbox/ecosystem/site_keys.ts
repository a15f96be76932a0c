/** All keys of a sandbox, created in parallel because this takes most of the time of a first start. */
import { type Authority, openAuthority, type ServerIdentity, serverIdentity } from "./authority.ts";
import { keyPairAt, type MakeKeyPair, makeKeyPair } from "./key_files.ts";
import { type ParticipantKeys, participantKeys } from "./onboarding.ts";
import type { ParticipantPlan } from "./participants_plan.ts";
import { platformKeySet } from "./platform_key_set.ts";
import { readIfAny, type SandboxFiles, writeSecret } from "./sandbox_files.ts";
import type { Site } from "./site.ts";

/** The keys and certificates that are needed before any part starts. */
export interface SiteKeys {
  readonly authority: Authority;
  /** The front door's TLS certificate. */
  readonly server: ServerIdentity;
  /** Signs software statements. */
  readonly directory: CryptoKeyPair;
  /** Private JWK set as JSON. */
  readonly platform: string;
  /** Text of `PLATFORM_WRAPPING_KEYS`. */
  readonly wrapping: string;
  /** Participants to be onboarded; empty if that is done. */
  readonly newcomers: readonly { readonly plan: ParticipantPlan; readonly keys: ParticipantKeys }[];
}

/** Creates missing keys and reads the others. */
export async function openSiteKeys(
  { files }: Site,
  newcomers: readonly ParticipantPlan[],
  now: number,
  makeKeys: MakeKeyPair = makeKeyPair,
): Promise<SiteKeys> {
  const opening = openAuthority(files, now, makeKeys);
  const serverKeys = keyPairAt(files.serverKey, makeKeys);
  const [authority, server, directory, platform, wrapping, withKeys] = await Promise.all([
    opening,
    serverKeys.then(async (keys) => await serverIdentity(files, keys, await opening, now)),
    keyPairAt(files.directoryKey, makeKeys),
    opening.then((authority) => platformKeySet(files, authority, makeKeys, now)),
    wrappingKeys(files),
    Promise.all(
      newcomers.map(async (plan) => ({ plan, keys: await participantKeys(files, plan, makeKeys) })),
    ),
  ]);
  return { authority, server, directory, platform, wrapping, newcomers: withKeys };
}

async function wrappingKeys(files: SandboxFiles): Promise<string> {
  const kept = await readIfAny(files.wrappingKeys);
  if (kept !== undefined) return kept;
  const line = `sandbox ${crypto.getRandomValues(new Uint8Array(32)).toBase64()}\n`;
  await writeSecret(files.wrappingKeys, line);
  return line;
}
