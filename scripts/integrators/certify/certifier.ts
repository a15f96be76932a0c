/** The certifier's keys: a private JWK set as `deno task directory-keys` makes and rotates it. */
import { openStatementKeys, type StatementKeys } from "../../../src/directory/statements/statement_keys.ts";
import { newStatementKey } from "../../operators/directory_keys/new_key.ts";
import { writeSecretFile } from "../../command_line/secret_file.ts";

/**
 * Opens the key file, and makes it if it does not exist.
 *
 * @throws {Error} in one sentence if the file is not usable
 */
export async function openCertifierKeys(path: string, now: () => number): Promise<StatementKeys> {
  const json = await Deno.readTextFile(path).catch(async (error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw new Error(`The file ${path} cannot be read.`);
    const made = `${JSON.stringify({ keys: [await newStatementKey(2048)] }, undefined, 2)}\n`;
    await writeSecretFile(path, made, { replace: false });
    return made;
  });
  return await openStatementKeys(json, now).catch((error: Error) => {
    throw new Error(`The file ${path} ${error.message}.`);
  });
}

/** The public keys as a directory takes them in `DIRECTORY_CERTIFIERS`: each with the certifier's address as `iss`. */
export function certifierKeySet({ publicJwks }: StatementKeys, issuer: string): string {
  return JSON.stringify({ keys: publicJwks.keys.map((key) => ({ ...key, iss: issuer })) }, undefined, 2);
}
