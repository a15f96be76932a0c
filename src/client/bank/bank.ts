/**
 * One bank at one platform: its participant, its keys, its addresses and its connection. The other files of this folder
 * take it as a parameter.
 */
import type { JWK } from "jose";
import * as z from "zod/mini";
import {
  type Endpoints,
  openConnection,
  type OwnCredentials,
  type ParticipantFolder,
} from "../party/connection.ts";
import { SettingsError } from "../party/errors.ts";
import { importedKey } from "../party/signer.ts";
import type { Fetch } from "../party/http_request.ts";
import { type Credentials, type Participant, readText } from "../party/participant.ts";
import type { PayloadSigner, SignatureProfile } from "../party/payload_signature.ts";
import { KEY_MANAGEMENT_ALG } from "../party/profile.ts";
import { createPlatformKeys, type PlatformKeys } from "../party/platform_keys.ts";
import { createPlatformLink, type PlatformLink } from "./platform_link.ts";

/** A private key with the kid of its public half. */
export interface DecryptionKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

/** An open bank. `close` frees its connections. */
export interface Bank {
  /** `{BANK}` in every path: its `org_id` (Decision A4). */
  readonly code: string;
  readonly participant: Participant;
  /** Opens handover JWTs: the `enc` key, or the `tls` key if the bank has none (Decision A10). */
  readonly decryption: DecryptionKey;
  readonly signer: PayloadSigner;
  /** API host, over mTLS. */
  readonly baseUrl: string;
  /** Browser host, which is part of the issuers (Decision A1). */
  readonly authUrl: string;
  readonly platformKeys: PlatformKeys;
  readonly link: PlatformLink;
  readonly replay: ReplayMemory;
  /** Over mTLS. */
  readonly fetch: Fetch;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  close(): void;
}

/** What a bank was given at onboarding, wherever it keeps it. */
export interface BankCredentials extends Credentials {
  /** The `enc` key, or the `tls` key if the bank has none (Decision A10): PKCS#8 PEM, JWK, or CryptoKey for RSA-OAEP-256. */
  readonly decryption: { readonly kid: string; readonly key: string | JWK | CryptoKey };
}

/** The platform, and how the bank uses it. */
export interface BankOptions {
  readonly endpoints: Endpoints;
  /** Default `b`. */
  readonly signatureProfile?: SignatureProfile;
  /** Where the ids of handover JWTs are used up. Default: in memory. Several processes that serve one bank need one place. */
  readonly replay?: ReplayMemory;
  /** Milliseconds since the Unix epoch; default: this computer's time. */
  readonly now?: () => number;
}

/** The bank, and the addresses of its platform. */
export type BankSettings = BankOptions & (ParticipantFolder | OwnCredentials<BankCredentials>);

/**
 * Loads the credentials and prepares the connection; sends no request yet.
 *
 * @throws {SettingsError} if a credential cannot be used
 * @throws {Error} if a file of the folder is missing
 * @example
 * ```ts
 * const bank = await openBank({ dir: ".data/sandbox", name: "my-bank", endpoints });
 * const handover = await openHandover(bank, oAuthUrl);
 * const consent = await readConsent(bank, { consentId: handover.consentId, customerIp });
 * const url = await resultUrl(bank, handover, { statusCode: "success", status: "success", sub });
 * ```
 */
export async function openBank(settings: BankSettings): Promise<Bank> {
  const { credentials, ...more } = "dir" in settings ? await inFolder(settings) : settings;
  const { kid, key } = credentials.decryption;
  const decryption = { kid, key: await decryptionKey(kid, key) };
  const { participant, connection } = await openConnection({ credentials, ...more });
  return assembleBank(settings, { participant, decryption, ...connection });
}

async function inFolder({ dir, name }: ParticipantFolder): Promise<OwnCredentials<BankCredentials>> {
  const credentials = await loadBankCredentials(`${dir}/participants/${name}`);
  return { credentials, ca: await readText(`${dir}/ca.pem`) };
}

/** The parts of a bank that depend on where its credentials are. */
export type BankParts = Pick<Bank, "participant" | "decryption" | "fetch" | "close">;

/** A bank of its parts. */
export function assembleBank(
  { endpoints, signatureProfile = "b", replay, now = Date.now }: BankOptions,
  { participant, decryption, fetch, close }: BankParts,
): Bank {
  const { base_url: baseUrl, auth_url: authUrl, directory_url: directoryUrl } = endpoints;
  const { orgId: code, signer } = participant;
  const platform = { code, participant, baseUrl, authUrl, fetch, now };
  return {
    code,
    participant,
    decryption,
    signer: { ...signer, iss: code, tan: new URL(directoryUrl).host, profile: signatureProfile },
    baseUrl,
    authUrl,
    platformKeys: createPlatformKeys(platform),
    link: createPlatformLink(platform),
    replay: replay ?? createReplayMemory(now),
    fetch,
    now,
    close,
  };
}

/** @throws {SettingsError} if the key cannot decrypt RSA-OAEP-256 */
export async function decryptionKey(kid: string, key: string | JWK | CryptoKey): Promise<CryptoKey> {
  const imported = await importedKey(key, KEY_MANAGEMENT_ALG);
  if (imported !== undefined && canDecrypt(imported)) return imported;
  throw new SettingsError(
    `The key ${kid} cannot decrypt ${KEY_MANAGEMENT_ALG}. Expected a private RSA key: PKCS#8 PEM, JWK, or a CryptoKey for RSA-OAEP with SHA-256.`,
  );
}

function canDecrypt({ type, usages, algorithm }: CryptoKey): boolean {
  const { name, hash } = algorithm as Partial<RsaHashedKeyAlgorithm>;
  return type === "private" && name === "RSA-OAEP" && hash?.name === "SHA-256" &&
    (usages.includes("decrypt") || usages.includes("unwrapKey"));
}

const facts = z.object({
  software_client_id: z.string(),
  client_id: z.optional(z.string()),
  signing_kid: z.string(),
  transport_kid: z.string(),
  encryption_kid: z.nullish(z.string()),
});

/**
 * Reads a bank's folder of `participants/`.
 * @throws {Error} if a file is missing or invalid
 */
export async function loadBankCredentials(folder: string): Promise<BankCredentials> {
  const read = (name: string): Promise<string> => readText(`${folder}/${name}`);
  const { software_client_id, client_id, ...kids } = facts.parse(JSON.parse(await read("participant.json")));
  const transport = { certPem: await read("transport.cert.pem"), keyPem: await read("transport.key.pem") };
  return {
    softwareStatement: (await read(`${software_client_id}.jks`)).trim(),
    signing: { kid: kids.signing_kid, key: await read("signing.key.pem") },
    decryption: typeof kids.encryption_kid === "string"
      ? { kid: kids.encryption_kid, key: await read("encryption.key.pem") }
      : { kid: kids.transport_kid, key: transport.keyPem },
    transport,
    ...(client_id === undefined ? {} : { clientId: client_id }),
  };
}

/** The ids that were used. */
export interface ReplayMemory {
  /** Marks the id as used. Returns true exactly once per id until `untilMs` (Unix milliseconds). */
  readonly useOnce: (id: string, untilMs: number) => boolean | Promise<boolean>;
}

/** Starts empty and drops expired ids when new ones are added. */
export function createReplayMemory(clock: () => number): ReplayMemory {
  const usedUntilMs = new Map<string, number>();
  return {
    useOnce(id, untilMs): boolean {
      const now = clock();
      for (const [known, until] of usedUntilMs) if (until <= now) usedUntilMs.delete(known);
      if (usedUntilMs.has(id)) return false;
      usedUntilMs.set(id, untilMs);
      return true;
    },
  };
}
