/** The environment of a command, with secrets from files as `NAME_FILE` names them. */
import { fileVariables, isHandedOver, withSecretFiles } from "../../src/base/http/secret_files.ts";

/**
 * Reads variables.
 *
 * @param secrets those whose value may come from a file
 * @throws {Error} with a line for each file that cannot be used
 */
export async function secretEnvironment<Name extends string>(
  secrets: readonly Name[],
  others: readonly string[] = [],
): Promise<Readonly<Record<string, string | undefined>>> {
  const names = [...secrets, ...fileVariables(secrets), ...others];
  const given = Object.fromEntries(names.map((name) => [name, Deno.env.get(name)]));
  const faults: string[] = [];
  const env = await withSecretFiles(given, secrets, (_, path) => readSecret(path), faults);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return env;
}

/** The text of a file that nobody else may open. @throws {Error} in one sentence */
export async function readSecret(path: string): Promise<string> {
  const { mode } = await Deno.stat(path).catch(() => {
    throw new Error(`the file ${path} cannot be read`);
  });
  if (mode !== null && (mode & 0o077) !== 0 && !isHandedOver(path)) {
    throw new Error(`others may open ${path}; chmod 600 ${path}`);
  }
  return await Deno.readTextFile(path);
}
