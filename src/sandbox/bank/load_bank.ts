/**
 * Reads one bank's credentials from `participants/<name>/` (Decision F2). The consent screen and the trust anchor come
 * from the software statement, so that the bank acts as it was registered. Never writes a file.
 */
import { decodeJwt } from "jose";
import { z } from "zod";
import type { SignatureProfile } from "../../client/party/payload_signature.ts";
import type { BankProfile, PrivateKeyPem } from "./bank_profile.ts";

/** Reads a UTF-8 file. */
export type ReadText = (path: string) => Promise<string>;

export interface LoadOptions {
  /** Default: `a` for a bank with the platform's consent screen, `b` for one with its own. */
  readonly signatureProfile?: SignatureProfile;
  /** Default: `Deno.readTextFile`. */
  readonly readText?: ReadText;
}

const kid = z.string().min(1);

const participantSchema = z.object({
  org_id: z.string().min(1),
  org_name: z.string().min(1),
  role: z.literal("ASPSP"),
  software_client_id: z.string().min(1),
  client_id: z.string().min(1).nullish(),
  signing_kid: kid,
  transport_kid: kid,
  encryption_kid: kid.nullish(),
});

const statementSchema = z.object({
  iss: z.url(),
  consent_managedby_bank: z.boolean(),
  results_on_back_channel: z.boolean().default(false),
});

/**
 * Loads the bank from its folder.
 * @throws {ZodError} if `participant.json` or the software statement lacks a required field
 * @throws {Deno.errors.NotFound} if a file is missing
 */
export async function loadBank(dir: string, options: LoadOptions = {}): Promise<BankProfile> {
  const readText = options.readText ?? Deno.readTextFile;
  const read = (name: string): Promise<string> => readText(`${dir}/${name}`);
  const participant = participantSchema.parse(JSON.parse(await read("participant.json")));
  const [statementText, signingPem, transportPem, certPem] = await Promise.all([
    read(`${participant.software_client_id}.jks`),
    read("signing.key.pem"),
    read("transport.key.pem"),
    read("transport.cert.pem"),
  ]);
  const transport = { keyPem: transportPem, kid: participant.transport_kid };
  // The statement comes from this bank's own folder, so its signature is not verified here.
  const statement = statementSchema.parse(decodeJwt(statementText.trim()));
  return {
    code: participant.org_id,
    displayName: participant.org_name,
    hasApp: statement.results_on_back_channel,
    consentScreen: statement.consent_managedby_bank ? "bank" : "platform",
    signatureProfile: options.signatureProfile ?? (statement.consent_managedby_bank ? "b" : "a"),
    orgId: participant.org_id,
    clientId: participant.client_id ?? participant.software_client_id,
    signing: { keyPem: signingPem, kid: participant.signing_kid },
    decryption: await decryptionKey(participant.encryption_kid ?? undefined, transport, read),
    transport: { certPem, keyPem: transportPem },
    trustAnchor: new URL(statement.iss).host,
  };
}

// Decision A10: without an `enc` key the platform encrypts to the `tls` key.
async function decryptionKey(
  encryptionKid: string | undefined,
  transport: PrivateKeyPem,
  read: ReadText,
): Promise<PrivateKeyPem> {
  if (encryptionKid === undefined) return transport;
  return { keyPem: await read("encryption.key.pem"), kid: encryptionKid };
}
