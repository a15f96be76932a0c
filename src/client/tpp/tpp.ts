/**
 * One third-party provider at one platform: its participant, its addresses, its mTLS connection and its signature
 * profile. The other files of this folder take it as a parameter.
 */
import { generateKeyPair } from "oauth4webapi";
import { SIGNATURE_ALG } from "../party/profile.ts";
import { SettingsError } from "../party/errors.ts";
import type { Fetch } from "../party/http_request.ts";
import {
  type Endpoints,
  openConnection,
  type OwnCredentials,
  type ParticipantFolder,
} from "../party/connection.ts";
import type { Participant } from "../party/participant.ts";
import type { PayloadSigner, SignatureProfile } from "../party/payload_signature.ts";

/** A pair of RSA keys for PS256: a `CryptoKeyPair`, which Node's types do not name. */
export interface ProofKeys {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** An open TPP. `close` frees its connections. */
export interface Tpp {
  readonly participant: Participant;
  /** API host, over mTLS. */
  readonly baseUrl: string;
  /** Browser host, which is part of the issuers (Decision A1). */
  readonly authUrl: string;
  readonly redirectUri: string;
  readonly signer: PayloadSigner;
  /** Bind the tokens of all its payments (RFC 9449 §4): a new RSA key for each would cost a customer 0.2 s. */
  readonly dpopKeys: ProofKeys;
  readonly fetch: Fetch;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  close(): void;
}

/** The platform, and how the TPP uses it. */
export interface TppOptions {
  readonly endpoints: Endpoints;
  /** One of the registered redirect URLs. */
  readonly redirectUri: string;
  /** Default `b`. */
  readonly signatureProfile?: SignatureProfile;
  /** PS256. Default: new ones. Several processes that serve the same customers need the same. */
  readonly dpopKeys?: ProofKeys;
  /** Milliseconds since the Unix epoch; default: this computer's time. */
  readonly now?: () => number;
}

/** The TPP, and the addresses of its platform. */
export type TppSettings = TppOptions & (ParticipantFolder | OwnCredentials);

/**
 * Loads the credentials and prepares the connection; sends no request yet.
 *
 * @throws {SettingsError} if a credential cannot be used or `redirectUri` is not among the participant's
 * @throws {Error} if a file of the folder is missing
 * @example A key that never leaves its KMS
 * ```ts
 * const tpp = await openTpp({
 *   credentials: {
 *     softwareStatement,
 *     signing: { kid: "my-kid", key: (data) => kms.sign("RSASSA_PSS_SHA_256", data) },
 *     transport: { certPem, keyPem },
 *   },
 *   endpoints,
 *   redirectUri: "https://shop.example/callback",
 * });
 * ```
 */
export async function openTpp(settings: TppSettings): Promise<Tpp> {
  const { endpoints, redirectUri } = settings;
  const { participant, connection } = await openConnection(settings);
  if (!participant.redirectUris.includes(redirectUri)) {
    connection.close();
    throw new SettingsError(
      `${redirectUri} is not a redirect URL of ${participant.orgName}. Expected one of ${
        participant.redirectUris.join(", ")
      }.`,
    );
  }
  return {
    participant,
    baseUrl: endpoints.base_url,
    authUrl: endpoints.auth_url,
    redirectUri,
    signer: {
      ...participant.signer,
      iss: `${participant.orgId}/${participant.softwareClientId}`,
      tan: new URL(endpoints.directory_url).host,
      profile: settings.signatureProfile ?? "b",
    },
    dpopKeys: settings.dpopKeys ?? await generateKeyPair(SIGNATURE_ALG),
    fetch: connection.fetch,
    now: settings.now ?? Date.now,
    close: connection.close,
  };
}
