/**
 * `deno task directory-admin`: the list of the directory's administrators, a file on the directory's machine. A running
 * directory reads the file again at the next request. The token is printed once; the file holds its hash.
 */
import {
  type Credential,
  isAdministratorName,
  isInForce,
  newCredential,
  readCredentials,
} from "../../src/directory/administrators.ts";
import { optionsOf } from "../command_line/run.ts";
import { lockSecretFile, writeSecretFile } from "../command_line/secret_file.ts";

/** Dependencies of the command. */
export interface Tools {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Milliseconds. */
  readonly now: number;
}

const USAGE = `deno task directory-admin <command> [--file <administrators.json>]

  add     --name <name>   Adds an administrator and prints the token, once. The first one makes the file.
  revoke  --name <name>   Ends the administrator's credential. It counts from the directory's next request on.
  list                    Lists every credential that there ever was, by name and id.

--file: the file that DIRECTORY_ADMINISTRATORS names, which is also the default. A name is 1 to 64 letters, digits or
. _ @ + -, and stands in the participants' histories. For a new token: revoke, then add.`;

/**
 * Runs one command line.
 *
 * @throws {Error} in one sentence if it did not do what it was asked
 */
export async function directoryAdmin(args: readonly string[], tools: Tools): Promise<void> {
  const { verb, file, name } = readArguments(args, tools.env);
  if (verb === "help") return tools.print(USAGE);
  using _lock = verb === "list" ? undefined : await lockSecretFile(file); // two changes at once would lose one
  const before = await readList(file, verb === "add");
  if (verb === "list") return before.forEach((one) => tools.print(lineOf(one)));
  const current = before.find((one) => one.name === name && isInForce(one));
  if (verb === "revoke") {
    if (current === undefined) throw new Error(`No credential of ${name} is in force; list shows them all.`);
    const revoked_at = new Date(tools.now).toISOString();
    await writeList(file, before.map((one) => one === current ? { ...one, revoked_at } : one));
    return tools.print(`${current.id} of ${name} is revoked.`);
  }
  if (current !== undefined) {
    throw new Error(`${name} has a credential already, ${current.id}; revoke it first.`);
  }
  const { credential, token } = await newCredential(name, tools.now);
  await writeList(file, [...before, credential]);
  tools.print(token);
}

function readArguments(
  args: readonly string[],
  env: Tools["env"],
): { verb: "help" | "list" | "add" | "revoke"; file: string; name: string } {
  const [verb, ...rest] = args;
  if (verb === undefined || args.includes("--help")) return { verb: "help", file: "", name: "" };
  if (verb !== "list" && verb !== "add" && verb !== "revoke") {
    throw new Error(`There is no command ${verb}; --help lists them.`);
  }
  const values: { file?: string; name?: string } = optionsOf(
    rest,
    verb === "list" ? ["file"] : ["file", "name"],
  );
  const file = values.file || env["DIRECTORY_ADMINISTRATORS"] || "";
  if (file === "") throw new Error("--file is missing, and DIRECTORY_ADMINISTRATORS is not set.");
  if (verb !== "list" && !isAdministratorName(values.name ?? "")) {
    throw new Error("--name must be 1 to 64 letters, digits or . _ @ + -.");
  }
  return { verb, file, name: values.name ?? "" };
}

async function readList(file: string, mayBeMissing: boolean): Promise<readonly Credential[]> {
  let json: string;
  try {
    json = await Deno.readTextFile(file);
  } catch (error) {
    if (mayBeMissing && error instanceof Deno.errors.NotFound) return [];
    throw new Error(`The file ${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  try {
    return readCredentials(json);
  } catch (error) {
    throw new Error(`The file ${file} ${error instanceof Error ? error.message : error}.`);
  }
}

async function writeList(file: string, administrators: readonly Credential[]): Promise<void> {
  const json = `${JSON.stringify({ administrators }, undefined, 2)}\n`;
  readCredentials(json);
  await writeSecretFile(file, json, { replace: true });
}

function lineOf({ id, name, added_at, revoked_at }: Credential): string {
  return `${id}  ${name}  added ${added_at}  ${
    revoked_at === undefined ? "in force" : `revoked ${revoked_at}`
  }`;
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  try {
    await directoryAdmin(Deno.args, {
      env: { DIRECTORY_ADMINISTRATORS: Deno.env.get("DIRECTORY_ADMINISTRATORS") },
      print: (line) => void Deno.stdout.writeSync(encoder.encode(`${line}\n`)),
      now: Date.now(),
    });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(encoder.encode(`${words}\n`));
    Deno.exit(1);
  }
}
