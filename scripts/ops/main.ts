/** `deno task ops`: the operations API from the command line, and the list of operators. */
import { OPERATORS, ROLES } from "../../src/platform/security/operator_roles.ts";
import { changeCredentials, type ListTools } from "../command_line/credential_list.ts";
import { optionsOf, UsageError } from "../command_line/run.ts";

const USAGE = `deno task ops operator <command> [--file <operators.json>]

  add     --name <name> --role <role>[,<role>…]   Adds an operator and prints the token, once. The first one makes the file.
  revoke  --name <name>                           Ends the operator's credential, from the platform's next request on.
  list                                            Lists every credential that there ever was, by name, id and roles.

--file: the file that OPERATORS names, which is also the default. A name is 1 to 64 letters, digits or . _ @ + -, and
stands in histories. Roles: ${ROLES.join(", ")}. For a new token: revoke, then add.`;

/** Dependencies of the command. */
export interface OpsTools extends ListTools {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs one command line.
 *
 * @throws {UsageError} and errors in one sentence
 */
export async function ops(args: readonly string[], tools: OpsTools): Promise<void> {
  const [area, ...rest] = args;
  if (area === undefined || args.includes("--help")) return tools.print(USAGE);
  if (area !== "operator") throw new UsageError(`There is no command ${area}; --help lists them.`);
  await changeOperators(rest, tools);
}

async function changeOperators([verb, ...rest]: readonly string[], tools: OpsTools): Promise<void> {
  if (verb !== "list" && verb !== "add" && verb !== "revoke") {
    throw new UsageError(`There is no command operator ${verb ?? ""}; --help lists them.`);
  }
  const names = { list: ["file"], add: ["file", "name", "role"], revoke: ["file", "name"] } as const;
  const values: { file?: string; name?: string; role?: string } = optionsOf(rest, names[verb]);
  const file = values.file || tools.env["OPERATORS"] || "";
  if (file === "") throw new UsageError("--file is missing, and OPERATORS is not set.");
  const roles = [...new Set((values.role ?? "").split(",").filter((role) => role !== ""))];
  if (verb === "add" && (roles.length === 0 || roles.some((role) => !OPERATORS.roles.includes(role)))) {
    throw new UsageError(`--role must be one or more of ${ROLES.join(", ")}, comma separated.`);
  }
  await changeCredentials(OPERATORS, { verb, file, name: values.name ?? "", roles }, tools);
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  try {
    await ops(Deno.args, {
      env: { OPERATORS: Deno.env.get("OPERATORS") },
      print: (line) => void Deno.stdout.writeSync(encoder.encode(`${line}\n`)),
      now: Date.now(),
    });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(encoder.encode(`${words}\n`));
    Deno.exit(error instanceof UsageError ? 2 : 1);
  }
}
