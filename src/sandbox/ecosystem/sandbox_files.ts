/**
 * The paths of a sandbox's files (Decision F2). Files are written atomically, and secrets are readable only by their
 * owner.
 */

/** Paths of one sandbox. */
export interface SandboxFiles {
  readonly directory: string;
  readonly lock: string;
  /** The port that the data belongs to, and whether the first start completed. */
  readonly state: string;
  readonly endpoints: string;
  /** The token of the directory's administrator and the platform's operator as a header, for `curl -H @file`. */
  readonly adminHeader: string;
  readonly secrets: string;
  readonly caCertificate: string;
  readonly caKey: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly platformKeys: string;
  readonly platformStore: string;
  /** The keys that seal personal data in the platform's store, in a database of their own. */
  readonly dataKeysStore: string;
  /** Wraps them. */
  readonly wrappingKeys: string;
  readonly log: string;
  readonly directoryKey: string;
  readonly directoryStore: string;
  readonly participants: string;
  /** The offset of the sandbox's clock. */
  readonly clock: string;
  /** Path of a bank's ledger, by bank code. */
  bankBook(code: string): string;
}

/** The sandbox's banks. */
export const BANK_CODES: readonly string[] = ["BANKA", "BANKB"];

/** Paths of one participant's files. */
export interface ParticipantFiles {
  readonly folder: string;
  readonly description: string;
  key(purpose: KeyPurpose): string;
  certificate(purpose: KeyPurpose): string;
  statement(softwareClientId: string): string;
  jwks(softwareClientId: string): string;
}

/** The use of a participant's key pair. */
export type KeyPurpose = "signing" | "transport" | "encryption";

/** The paths below a directory. */
export function sandboxFiles(directory: string): SandboxFiles {
  return {
    directory,
    lock: `${directory}/sandbox.lock`,
    state: `${directory}/sandbox.json`,
    endpoints: `${directory}/endpoints.json`,
    adminHeader: `${directory}/admin.header`,
    secrets: `${directory}/secrets.json`,
    caCertificate: `${directory}/ca.pem`,
    caKey: `${directory}/ca.key.pem`,
    serverCertificate: `${directory}/server.cert.pem`,
    serverKey: `${directory}/server.key.pem`,
    platformKeys: `${directory}/platform-keys.json`,
    platformStore: `${directory}/platform.kv`,
    dataKeysStore: `${directory}/data-keys.kv`,
    wrappingKeys: `${directory}/wrapping.keys`,
    log: `${directory}/sandbox.log`,
    directoryKey: `${directory}/directory.key.pem`,
    directoryStore: `${directory}/directory.kv`,
    participants: `${directory}/participants`,
    clock: `${directory}/clock.json`,
    bankBook: (code) => `${directory}/bank-${code}.kv`,
  };
}

/** The paths of a participant by its folder name. */
export function participantFiles(files: SandboxFiles, name: string): ParticipantFiles {
  const folder = `${files.participants}/${name}`;
  return {
    folder,
    description: `${folder}/participant.json`,
    key: (purpose) => `${folder}/${purpose}.key.pem`,
    certificate: (purpose) => `${folder}/${purpose}.cert.pem`,
    statement: (softwareClientId) => `${folder}/${softwareClientId}.jks`,
    jwks: (softwareClientId) => `${folder}/${softwareClientId}.jwks`,
  };
}

/** Creates a folder that only its owner can access; leaves an existing one unchanged. */
export async function makePrivateFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * Creates an empty file that only its owner can access, unless it exists. A database opened in it creates its other
 * files with the same permissions.
 */
export async function makeOwnFile(path: string): Promise<void> {
  (await Deno.open(path, { create: true, append: true, mode: 0o600 })).close();
}

/** The text of a file, or undefined if it does not exist. */
export async function readIfAny(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Writes a file that all users can read. */
export function writePublic(path: string, text: string): Promise<void> {
  return replaceFile(path, text, 0o644);
}

/** Writes a file that only its owner can access. */
export function writeSecret(path: string, text: string): Promise<void> {
  return replaceFile(path, text, 0o600);
}

/** Removes a file or folder if it exists. */
export async function removeIfAny(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** JSON in the format of these files. */
export function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const unfinished = `${path}.new`;
  await removeIfAny(unfinished); // `mode` applies only to a new file
  await Deno.writeTextFile(unfinished, text, { mode });
  await Deno.rename(unfinished, path);
}
