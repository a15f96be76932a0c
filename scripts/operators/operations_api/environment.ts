/** The environment of a command that calls the operations API. */
import { printError } from "../../command_line/print.ts";
import { readSandboxOperator, sandboxFolder } from "../../command_line/sandbox_folder.ts";

const PLACE = ["PLATFORM_OPS_TOKEN", "PLATFORM_OPERATIONS_HOST", "PLATFORM_OPERATIONS_PORT"];
const NAMES = [...PLACE, "PLATFORM_OPERATORS"];

type Variables = (name: string) => string | undefined;

/**
 * Reads the variables. If none of them and no option names an operator or an address, the caller is the operator of the
 * sandbox on this computer (`SANDBOX_DIR`), and standard error says so. So a sandbox's token goes to no other platform.
 */
export async function operatorEnvironment(
  args: readonly string[],
  read: Variables = (name) => Deno.env.get(name),
): Promise<Variables> {
  const own = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
  const isNamed = PLACE.some((name) => own[name]) || args.some((arg) => /^--(url|token-file)(=|$)/.test(arg));
  const sandbox = isNamed ? {} : await sandboxOperator(read("SANDBOX_DIR"));
  let isSaid = false;
  return (name) => {
    if (name === "PLATFORM_OPS_TOKEN" && name in sandbox && !isSaid) {
      isSaid = true;
      printError("Without PLATFORM_OPS_TOKEN: as the operator of the sandbox on this computer.");
    }
    return sandbox[name] ?? own[name];
  };
}

async function sandboxOperator(SANDBOX_DIR: string | undefined): Promise<Readonly<Record<string, string>>> {
  const operator = await readSandboxOperator(sandboxFolder({ SANDBOX_DIR }));
  if (operator === undefined) return {};
  const { hostname, port } = new URL(operator.url);
  return {
    PLATFORM_OPS_TOKEN: operator.token,
    PLATFORM_OPERATIONS_HOST: hostname,
    PLATFORM_OPERATIONS_PORT: port,
  };
}
