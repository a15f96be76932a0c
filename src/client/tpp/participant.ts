/**
 * Reads a participant's onboarding files as its own software does: keys, certificates, software statement. Reads one
 * folder of `participants/` (Decision F2) and fails if a file is missing. Never writes, never logs a key.
 */
import { decodeJwt, importPKCS8 } from "jose";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { SIGNATURE_ALG } from "../profile.ts";

/** A participant's network certificate and its private key, PEM, presented at every mTLS handshake. */
export interface TransportIdentity {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A participant of the directory with all that it needs to call the platform. */
export interface Participant {
  readonly name: string;
  readonly orgId: string;
  /** Legal name: `iss` of its registration JWT. */
  readonly orgName: string;
  readonly softwareClientId: string;
  /** The client id that registration returned; the software client id until then (Decision B6: they are equal). */
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  /** `kid` of its `sig` key, in the header of every JWT it makes (contract PN10). */
  readonly signingKid: string;
  /** Not extractable. */
  readonly signingKey: CryptoKey;
  readonly transport: TransportIdentity;
  /** The software statement exactly as issued. */
  readonly softwareStatement: string;
}

const participantJson = z.object({
  name: z.string().min(1),
  org_id: z.string().min(1),
  org_name: z.string().min(1),
  software_client_id: z.string().min(1),
  client_id: z.string().min(1).optional(),
  redirect_uris: z.array(z.string()).optional(),
  signing_kid: z.string().min(1),
});

const statementClaims = z.object({ software_redirect_uris: z.array(z.string()) });

/**
 * Reads `participants/<name>/`.
 * @throws {Error} if a file is missing or invalid, or the statement is not a JWT.
 */
export async function loadParticipant(folder: string): Promise<Participant> {
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
      statementClaims.parse(decodeJwt(softwareStatement)).software_redirect_uris,
    signingKid: facts.signing_kid,
    signingKey: await importPKCS8(signingPem, SIGNATURE_ALG),
    transport: { certPem, keyPem },
    softwareStatement,
  };
}

/** Reads a text file on any runtime. */
export async function readText(path: string): Promise<string> {
  return await readFile(path, "utf8");
}
