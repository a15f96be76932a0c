/** A participant's credentials and its connection to the platform: from its folder, or as the caller keeps them. */
import { SettingsError } from "./errors.ts";
import type { MutualTls } from "./http_request.ts";
import { type MutualTlsFetch, openMutualTls, ownFetch } from "./mutual_tls.ts";
import {
  type Credentials,
  loadParticipant,
  openParticipant,
  type Participant,
  readText,
} from "./participant.ts";

/** The addresses of a platform, as `endpoints.json` of a sandbox has them. */
export interface Endpoints {
  /** API host, over mTLS. */
  readonly base_url: string;
  /** Browser host. */
  readonly auth_url: string;
  readonly directory_url: string;
}

/** The participant's folder, as `participant onboard` writes it. */
export interface ParticipantFolder {
  /** Folder with `ca.pem` and `participants/<name>/`. */
  readonly dir: string;
  /** Folder name under `participants/`. */
  readonly name: string;
}

/** The participant's credentials, from wherever it keeps them. */
export interface OwnCredentials<T extends Credentials = Credentials> {
  readonly credentials: T;
  /** PEM of an authority that is trusted besides the public ones, such as a sandbox's. */
  readonly ca?: string;
  /** Presents the network certificate, in place of `credentials.transport`. */
  readonly fetch?: MutualTlsFetch;
}

/** @throws {SettingsError} if a credential cannot be used */
export async function openConnection(
  settings: ParticipantFolder | OwnCredentials,
): Promise<{ readonly participant: Participant; readonly connection: MutualTls }> {
  if ("dir" in settings) {
    const participant = await loadParticipant(`${settings.dir}/participants/${settings.name}`);
    const ca = await readText(`${settings.dir}/ca.pem`);
    return { participant, connection: openMutualTls(participant.transport, ca) };
  }
  return { participant: await openParticipant(settings.credentials), connection: connectionOf(settings) };
}

function connectionOf({ credentials: { transport }, ca, fetch }: OwnCredentials): MutualTls {
  if (fetch !== undefined) return { fetch: ownFetch(fetch), close: () => {} };
  if (transport !== undefined) return openMutualTls(transport, ca);
  throw new SettingsError(
    "No network certificate. Expected credentials.transport, or a fetch that presents the certificate.",
  );
}
