/**
 * A participant's own keys, certificates and software statement: from its credentials, or from its folder of
 * `participants/` (Decision F2). Never writes, never logs a key.
 */
import { decodeJwt } from "jose";
import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { SettingsError } from "./errors.ts";
import { openSigner, type Signer, type SigningKey } from "./signer.ts";

const nonEmpty = z.string().check(z.minLength(1));

/** A participant's network certificate and its private key, PEM, presented at every mTLS handshake. */
export interface TransportIdentity {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A participant of the directory, as itself. */
export interface Participant {
  readonly orgId: string;
  /** Legal name: `iss` of its registration JWT. */
  readonly orgName: string;
  readonly softwareClientId: string;
  /** The client id that registration returned; the software client id until then (Decision B6: they are equal). */
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  readonly signer: Signer;
  /** The software statement exactly as issued. */
  readonly softwareStatement: string;
}

/** A participant with the certificate of its folder. */
export interface FolderParticipant extends Participant {
  readonly name: string;
  readonly transport: TransportIdentity;
}

/** What a participant was given at onboarding, wherever it keeps it. */
export interface Credentials {
  /** The software statement exactly as issued. */
  readonly softwareStatement: string;
  /** The `sig` key and its `kid` in the participant's key set. */
  readonly signing: { readonly kid: string; readonly key: SigningKey };
  /** The network certificate. Omit it if your own `fetch` presents it. */
  readonly transport?: TransportIdentity;
  /** The client id that registration returned; default: the software client id of the statement (Decision B6). */
  readonly clientId?: string;
}

const participantJson = z.object({
  name: nonEmpty,
  org_id: nonEmpty,
  org_name: nonEmpty,
  software_client_id: nonEmpty,
  client_id: z.optional(nonEmpty),
  redirect_uris: z.optional(z.array(z.string())),
  signing_kid: nonEmpty,
});

const redirectClaims = z.object({ software_redirect_uris: z.array(z.string()) });
const statementClaims = z.extend(redirectClaims, {
  org_id: nonEmpty,
  org_name: nonEmpty,
  software_client_id: nonEmpty,
});

/**
 * Makes a participant of its credentials. The statement names the rest; its signature is not verified, because it is
 * the participant's own.
 *
 * @throws {SettingsError} if the statement or the key cannot be used
 */
export async function openParticipant(
  { softwareStatement, signing, clientId }: Credentials,
): Promise<Participant> {
  const statement = softwareStatement.trim();
  const claims = claimsOf(statement);
  return {
    orgId: claims.org_id,
    orgName: claims.org_name,
    softwareClientId: claims.software_client_id,
    clientId: clientId ?? claims.software_client_id,
    redirectUris: claims.software_redirect_uris,
    signer: await openSigner(signing.kid, signing.key),
    softwareStatement: statement,
  };
}

function claimsOf(statement: string): z.infer<typeof statementClaims> {
  try {
    return statementClaims.parse(decodeJwt(statement));
  } catch {
    throw new SettingsError(
      "softwareStatement is not a software statement. Expected the JWT of the directory with org_id, org_name, software_client_id and software_redirect_uris.",
    );
  }
}

/**
 * Reads `participants/<name>/`.
 * @throws {Error} if a file is missing or invalid, or the statement is not a JWT.
 */
export async function loadParticipant(folder: string): Promise<FolderParticipant> {
  const facts = participantJson.parse(JSON.parse(await readText(`${folder}/participant.json`)));
  const [signingPem, certPem, keyPem, statement] = await Promise.all([
    readText(`${folder}/signing.key.pem`),
    readText(`${folder}/transport.cert.pem`),
    readText(`${folder}/transport.key.pem`),
    readText(`${folder}/${facts.software_client_id}.jks`),
  ]);
  const softwareStatement = statement.trim();
  return {
    name: facts.name,
    orgId: facts.org_id,
    orgName: facts.org_name,
    softwareClientId: facts.software_client_id,
    clientId: facts.client_id ?? facts.software_client_id,
    redirectUris: facts.redirect_uris ??
      redirectClaims.parse(decodeJwt(softwareStatement)).software_redirect_uris,
    signer: await openSigner(facts.signing_kid, signingPem),
    transport: { certPem, keyPem },
    softwareStatement,
  };
}

/** Reads a text file on any runtime. */
export async function readText(path: string): Promise<string> {
  return await readFile(path, "utf8");
}
