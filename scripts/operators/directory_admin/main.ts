/**
 * `deno task directory-admin`: the list of the directory's administrators, a file on the directory's machine. A running
 * directory reads the file again at the next request. The token is printed once; the file holds its hash.
 */
import { ADMINISTRATORS } from "../../../src/base/http/credentials.ts";
import { changeCredentials, type ListCommand, type ListTools } from "../../command_line/credential_list.ts";
import { optionsOf, runProgram, unknownCommand, UsageError } from "../../command_line/run.ts";

/** Dependencies of the command. */
export interface Tools extends ListTools {
  readonly env: Readonly<Record<string, string | undefined>>;
}

const USAGE = `deno task directory-admin <command> [--file <administrators.json>]

  add     --name <name> [--days <days>] [--person <sub@host>]
                          Adds an administrator and prints the token, once. The first one makes the file. The token is
                          valid for 90 days. --person: who it is at the OpenID provider.
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
  await changeCredentials(ADMINISTRATORS, readArguments(args, tools.env), tools);
}

function readArguments(args: readonly string[], env: Tools["env"]): ListCommand {
  const [verb, ...rest] = args;
  if (verb === undefined) throw new UsageError(USAGE);
  if (verb !== "list" && verb !== "add" && verb !== "revoke") {
    throw unknownCommand(verb, ["add", "revoke", "list"]);
  }
  const names = {
    list: ["file"],
    add: ["file", "name", "days", "person"],
    revoke: ["file", "name"],
  } as const;
  const values: { file?: string; name?: string; days?: string; person?: string } = optionsOf(
    rest,
    names[verb],
  );
  const file = values.file || env["DIRECTORY_ADMINISTRATORS"] || "";
  if (file === "") throw new UsageError("--file is missing, and DIRECTORY_ADMINISTRATORS is not set.");
  const { name = "", days, person } = values;
  return { verb, file, name, days, person };
}

if (import.meta.main) {
  const env = { DIRECTORY_ADMINISTRATORS: Deno.env.get("DIRECTORY_ADMINISTRATORS") };
  await runProgram(USAGE, (args, print) => directoryAdmin(args, { env, print, now: Date.now() }));
}
