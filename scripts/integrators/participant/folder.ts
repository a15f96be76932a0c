/**
 * A participant's folder (Decision F2): keys, certificates, software statement, key set, description. Readable by
 * its owner alone. A replaced key stays beside the new one under its kid: what it signed may have to be proven.
 */
import { z } from "zod";
import { KEY_NAMES, type KeyName } from "./arguments.ts";

const descriptionSchema = z.object({
  name: z.string(),
  org_id: z.string(),
  org_name: z.string(),
  role: z.string(),
  software_client_id: z.string().regex(/^SC-[0-9A-Fa-f-]{36}$/), // becomes a file name
  client_id: z.string(),
  redirect_uris: z.array(z.string()).readonly(),
  signing_kid: z.string().optional(),
  transport_kid: z.string().optional(),
  encryption_kid: z.string().optional(),
});

/** `participant.json`. */
export type Description = Readonly<z.infer<typeof descriptionSchema>>;

/** A key with its certificate, to keep. */
export interface KeptKey {
  readonly name: KeyName;
  readonly kid: string;
  readonly privateKeyPem: string;
  readonly certificatePem: string;
}

/**
 * The files to write; undefined members stay unchanged. `description` is written last and marks the folder as complete.
 */
export interface FolderContents {
  readonly keys?: readonly KeptKey[];
  readonly statement?: string | undefined;
  readonly jwks?: unknown;
  readonly description: Description;
}

/** The description in a folder, or undefined where there is no such folder. @throws {ParticipantFailure} */
export async function readDescription(folder: string): Promise<Description | undefined> {
  const text = await readIfAny(`${folder}/participant.json`);
  if (text === undefined) return undefined;
  try {
    return descriptionSchema.parse(JSON.parse(text));
  } catch {
    throw new ParticipantFailure(`${folder}/participant.json is not a participant's description.`);
  }
}

/** The purposes that a description has keys for. */
export function keyNamesOf(description: Description): KeyName[] {
  return KEY_NAMES.filter((name) => description[`${name}_kid`] !== undefined);
}

/** Writes into a folder, making it where it is missing. `before` is the description that was there. */
export async function writeFolder(
  folder: string,
  contents: FolderContents,
  before?: Description,
): Promise<void> {
  const { keys = [], statement, jwks, description } = contents;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  for (const key of keys) await writeKey(folder, key, before?.[`${key.name}_kid`]);
  const stem = `${folder}/${description.software_client_id}`;
  if (statement !== undefined) await write(`${stem}.jks`, statement);
  if (jwks !== undefined) await write(`${stem}.jwks`, asJson(jwks));
  await write(`${folder}/participant.json`, asJson(description));
}

async function writeKey(folder: string, key: KeptKey, replacedKid: string | undefined): Promise<void> {
  const [keyFile, certificateFile] = [`${folder}/${key.name}.key.pem`, `${folder}/${key.name}.cert.pem`];
  if (replacedKid !== undefined) {
    await Deno.rename(keyFile, `${folder}/${key.name}.${replacedKid}.key.pem`).catch(ignoreMissing);
    await Deno.rename(certificateFile, `${folder}/${key.name}.${replacedKid}.cert.pem`).catch(ignoreMissing);
  }
  await write(keyFile, key.privateKeyPem);
  await write(certificateFile, `${key.certificatePem.trimEnd()}\n`);
}

// Writes another file and renames it, so that readers never see half a file and the mode is right from the first byte.
async function write(file: string, text: string): Promise<void> {
  const next = `${file}.${crypto.randomUUID()}.new`;
  await Deno.writeTextFile(next, text, { createNew: true, mode: 0o600 });
  await Deno.rename(next, file);
}

async function readIfAny(file: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new ParticipantFailure(`${file} cannot be read.`);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** The one error that a person who runs `deno task participant` is meant to read. */

/** The command did not do what it was asked. `message` is one sentence that says why. */
export class ParticipantFailure extends Error {
  override readonly name = "ParticipantFailure";
}
