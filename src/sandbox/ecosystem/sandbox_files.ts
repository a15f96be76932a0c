/**
 * Where everything of a sandbox lies in its directory (Decision F2), and how it is written: whole or not at
 * all, and secrets for the owner alone.
 */

/** Paths of one sandbox. */
export interface SandboxFiles {
  readonly directory: string;
  readonly lock: string;
  /** For which port the rest was made, and whether making it has ended. */
  readonly state: string;
  readonly endpoints: string;
  /** The directory's administration token as a header, for `curl -H @file`. */
  readonly adminHeader: string;
  readonly secrets: string;
  readonly caCertificate: string;
  readonly caKey: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly platformKeys: string;
  readonly platformStore: string;
  readonly log: string;
  readonly directoryKey: string;
  readonly directoryStore: string;
  readonly participants: string;
  /** How far the sandbox's clock is ahead of this computer's. */
  readonly clock: string;
  /** A bank's book, by bank code. */
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

/** What a participant's key pair is for. */
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

/** Makes a folder that only its owner may enter; leaves an existing one as it is. */
export async function makePrivateFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * Makes an empty file for its owner alone, unless it is there: a database that is then opened in it gives its
 * further files the same rights.
 */
export async function makeOwnFile(path: string): Promise<void> {
  (await Deno.open(path, { create: true, append: true, mode: 0o600 })).close();
}

/** The text of a file, undefined where there is none. */
export async function readIfAny(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Writes a file that others may read. */
export function writePublic(path: string, text: string): Promise<void> {
  return replaceFile(path, text, 0o644);
}

/** Writes a file for its owner alone. */
export function writeSecret(path: string, text: string): Promise<void> {
  return replaceFile(path, text, 0o600);
}

/** Removes a file, a folder or nothing. */
export async function removeIfAny(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** JSON as these files carry it. */
export function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const unfinished = `${path}.new`;
  await removeIfAny(unfinished); // `mode` counts only for a file that is new
  await Deno.writeTextFile(unfinished, text, { mode });
  await Deno.rename(unfinished, path);
}
