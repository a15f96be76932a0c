/** Changes a list of credentials, a file on the machine of the program that reads it. */
import {
  type Credential,
  CREDENTIAL_DAYS,
  type CredentialKind,
  isCredentialName,
  isInForce,
  isPersonName,
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
  /** Of a person to add: days that the token is valid, and who the person is at the OpenID provider. */
  readonly days?: string | undefined;
  readonly person?: string | undefined;
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
  { verb, file, name, roles = [], days, person }: ListCommand,
  tools: ListTools,
): Promise<void> {
  if (verb !== "list" && !isCredentialName(name)) {
    throw new Error("--name must be 1 to 64 letters, digits or . _ @ + -.");
  }
  if (person !== undefined && !isPersonName(person)) {
    throw new Error("--person must be <sub>@<host of the issuer>, as histories name the person.");
  }
  const valid = daysOf(days);
  // Two changes at once would lose one.
  using _lock = verb === "list" ? undefined : await lockSecretFile(file, verb === "add");
  const before = await readList(kind, { file, now: tools.now }, verb === "add");
  if (verb === "list") return before.forEach((one) => tools.print(lineOf(one, tools.now)));
  const current = before.find((one) => one.name === name && isInForce(one, tools.now));
  if (verb === "revoke") {
    if (current === undefined) throw new Error(`No credential of ${name} is in force; list shows them all.`);
    const revoked_at = new Date(tools.now).toISOString();
    const after = before.map((one) => one === current ? { ...one, revoked_at } : one);
    await writeList(kind, { file, now: tools.now }, after);
    return tools.print(`${current.id} of ${name} is revoked.`);
  }
  if (current !== undefined) {
    throw new Error(`${name} has a credential already, ${current.id}; revoke it first.`);
  }
  const { credential, token } = await newCredential(kind, { name, roles, days: valid, person }, tools.now);
  await writeList(kind, { file, now: tools.now }, [...before, credential]);
  tools.print(token);
}

/** The list's file, and the time at which it is used. */
interface ListFile {
  readonly file: string;
  readonly now: number;
}

async function readList(
  kind: CredentialKind,
  { file, now }: ListFile,
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
    return readCredentials(kind, json, now);
  } catch (error) {
    throw new Error(`The file ${file} ${error instanceof Error ? error.message : error}.`);
  }
}

async function writeList(
  kind: CredentialKind,
  { file, now }: ListFile,
  list: readonly Credential[],
): Promise<void> {
  const json = `${JSON.stringify({ [kind.list]: list }, undefined, 2)}\n`;
  readCredentials(kind, json, now);
  await writeSecretFile(file, json, { replace: true });
}

function lineOf(one: Credential, now: number): string {
  const { id, name, roles, added_at, expires_at, person, revoked_at } = one;
  const having = (roles === undefined ? "" : `  ${roles.join(",")}`) +
    (person === undefined ? "" : `  is ${person}`);
  const state = revoked_at !== undefined
    ? `revoked ${revoked_at}`
    : `${isInForce(one, now) ? "in force until" : "expired"} ${expires_at}`;
  return `${id}  ${name}${having}  added ${added_at}  ${state}`;
}

function daysOf(text: string | undefined): number {
  const { usual, most } = CREDENTIAL_DAYS;
  const days = text === undefined ? usual : /^[1-9]\d{0,2}$/.test(text) ? Number(text) : Infinity;
  if (days > most) throw new Error(`--days must be a whole number from 1 to ${most}.`);
  return days;
}
