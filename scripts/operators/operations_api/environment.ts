/** The environment of a command that calls the operations API. */
import { z } from "zod";
import { printError } from "../../command_line/print.ts";

const PLACE = ["PLATFORM_OPS_TOKEN", "PLATFORM_OPERATIONS_HOST", "PLATFORM_OPERATIONS_PORT"];
const NAMES = [...PLACE, "PLATFORM_OPERATORS"];

const endpointsSchema = z.looseObject({ operations_url: z.url(), directory_admin_token: z.string() });

/**
 * Reads the variables. If none of them and no option names an operator or an address, the caller is the operator of the
 * sandbox on this computer (`SANDBOX_DIR`), and standard error says so.
 */
export async function operatorEnvironment(
  args: readonly string[],
): Promise<(name: string) => string | undefined> {
  const own = Object.fromEntries(NAMES.map((name) => [name, Deno.env.get(name)]));
  const isNamed = PLACE.some((name) => own[name]) || args.some((arg) => /^--(url|token-file)(=|$)/.test(arg));
  const sandbox = isNamed ? {} : await sandboxOperator();
  return (name) => {
    if (name === "PLATFORM_OPS_TOKEN" && name in sandbox) {
      printError("Without PLATFORM_OPS_TOKEN: as the operator of the sandbox on this computer.");
    }
    return sandbox[name] ?? own[name];
  };
}

async function sandboxOperator(): Promise<Readonly<Record<string, string>>> {
  const dir = Deno.env.get("SANDBOX_DIR") || ".data/sandbox";
  const text = await Deno.readTextFile(`${dir}/endpoints.json`).catch(() => undefined);
  if (text === undefined) return {};
  const { operations_url: url, directory_admin_token: token } = endpointsSchema.parse(JSON.parse(text));
  const { hostname, port } = new URL(url);
  return { PLATFORM_OPS_TOKEN: token, PLATFORM_OPERATIONS_HOST: hostname, PLATFORM_OPERATIONS_PORT: port };
}
