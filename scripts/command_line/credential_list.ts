/** Changes a list of credentials, a file on the machine of the program that reads it. */
import {
  type Credential,
  type CredentialKind,
  isCredentialName,
  isInForce,
  newCredential,
  readCredentials,
} from "../../src/base/http/credentials.ts";
import { lockSecretFile, writeSecretFile } from "./secret_file.ts";

/** One command on a list. */
export interface ListCommand {
  readonly verb: "list" | "add" | "revoke";
  readonly file: string;
  /** The person. Empty for `list`. */
  readonly name: string;
  /** The roles of a person to add, if the kind has roles. */
  readonly roles?: readonly string[];
}

/** Dependencies of a command. */
export interface ListTools {
  readonly print: (line: string) => void;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Runs one command. `add` prints the token, once; the file holds its hash.
 *
 * @throws {Error} in one sentence if it did not do what it was asked
 */
export async function changeCredentials(
  kind: CredentialKind,
  { verb, file, name, roles = [] }: ListCommand,
  tools: ListTools,
): Promise<void> {
  if (verb !== "list" && !isCredentialName(name)) {
    throw new Error("--name must be 1 to 64 letters, digits or . _ @ + -.");
  }
  using _lock = verb === "list" ? undefined : await lockSecretFile(file); // two changes at once would lose one
  const before = await readList(kind, file, verb === "add");
  if (verb === "list") return before.forEach((one) => tools.print(lineOf(one)));
  const current = before.find((one) => one.name === name && isInForce(one));
  if (verb === "revoke") {
    if (current === undefined) throw new Error(`No credential of ${name} is in force; list shows them all.`);
    const revoked_at = new Date(tools.now).toISOString();
    await writeList(kind, file, before.map((one) => one === current ? { ...one, revoked_at } : one));
    return tools.print(`${current.id} of ${name} is revoked.`);
  }
  if (current !== undefined) {
    throw new Error(`${name} has a credential already, ${current.id}; revoke it first.`);
  }
  const { credential, token } = await newCredential(kind, { name, roles }, tools.now);
  await writeList(kind, file, [...before, credential]);
  tools.print(token);
}

async function readList(
  kind: CredentialKind,
  file: string,
  mayBeMissing: boolean,
): Promise<readonly Credential[]> {
  let json: string;
  try {
    json = await Deno.readTextFile(file);
  } catch (error) {
    if (mayBeMissing && error instanceof Deno.errors.NotFound) return [];
    throw new Error(`The file ${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  try {
    return readCredentials(kind, json);
  } catch (error) {
    throw new Error(`The file ${file} ${error instanceof Error ? error.message : error}.`);
  }
}

async function writeList(kind: CredentialKind, file: string, list: readonly Credential[]): Promise<void> {
  const json = `${JSON.stringify({ [kind.list]: list }, undefined, 2)}\n`;
  readCredentials(kind, json);
  await writeSecretFile(file, json, { replace: true });
}

function lineOf({ id, name, roles, added_at, revoked_at }: Credential): string {
  const having = roles === undefined ? "" : `  ${roles.join(",")}`;
  const state = revoked_at === undefined ? "in force" : `revoked ${revoked_at}`;
  return `${id}  ${name}${having}  added ${added_at}  ${state}`;
}
