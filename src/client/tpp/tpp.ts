/**
 * One third-party provider at one platform: its participant, its addresses, its mTLS connection and its signature
 * profile. The other files of this folder take it as a parameter.
 */
import { generateKeyPair } from "oauth4webapi";
import { SIGNATURE_ALG } from "../profile.ts";
import type { Fetch } from "./http_request.ts";
import { openMutualTls } from "./mutual_tls.ts";
import { loadParticipant, type Participant, readText } from "./participant.ts";
import type { PayloadSigner, SignatureProfile } from "./payload_signature.ts";

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
  readonly dpopKeys: CryptoKeyPair;
  readonly fetch: Fetch;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  close(): void;
}

/** The TPP's credentials and the addresses of its platform. */
export interface TppSettings {
  /** Folder with `ca.pem` and `participants/<name>/`. */
  readonly dir: string;
  /** Folder name under `participants/`. */
  readonly name: string;
  readonly endpoints: {
    readonly base_url: string;
    readonly auth_url: string;
    readonly directory_url: string;
  };
  /** One of the registered redirect URLs. */
  readonly redirectUri: string;
  /** Default `b`. */
  readonly signatureProfile?: SignatureProfile;
  /** PS256. Default: new ones. Several processes that serve the same customers need the same. */
  readonly dpopKeys?: CryptoKeyPair;
  /** Milliseconds since the Unix epoch; default: this computer's time. */
  readonly now?: () => number;
}

/**
 * Loads the credentials and prepares the connection; sends no request yet.
 * @throws {Error} if a credential is missing or `redirectUri` is not among the participant's.
 */
export async function openTpp(settings: TppSettings): Promise<Tpp> {
  const { dir, name, endpoints, redirectUri } = settings;
  const participant = await loadParticipant(`${dir}/participants/${name}`);
  if (!participant.redirectUris.includes(redirectUri)) {
    throw new Error(`${redirectUri} is not a redirect URL of participant "${name}"`);
  }
  const connection = openMutualTls(participant.transport, await readText(`${dir}/ca.pem`));
  return {
    participant,
    baseUrl: endpoints.base_url,
    authUrl: endpoints.auth_url,
    redirectUri,
    signer: {
      key: participant.signingKey,
      kid: participant.signingKid,
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
