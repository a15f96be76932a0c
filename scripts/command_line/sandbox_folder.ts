/** The folder of the sandbox on this computer, and who may operate it. */
import { z } from "zod";

const endpointsSchema = z.looseObject({
  auth_url: z.url(),
  operations_url: z.url(),
  directory_admin_token: z.string(),
});

/** The operator of a sandbox, as its `endpoints.json` has it. */
export interface SandboxOperator {
  readonly authUrl: string;
  /** Of the operations listener. */
  readonly url: string;
  readonly token: string;
}

/** The folder of `SANDBOX_DIR`, or the default one. */
export function sandboxFolder(env: Readonly<Record<string, string | undefined>>): string {
  return env["SANDBOX_DIR"] || ".data/sandbox";
}

/** Returns the operator of the sandbox with this folder, or undefined if there is no `endpoints.json`. */
export async function readSandboxOperator(dir: string): Promise<SandboxOperator | undefined> {
  const text = await Deno.readTextFile(`${dir}/endpoints.json`).catch(() => undefined);
  if (text === undefined) return undefined;
  const { auth_url: authUrl, operations_url: url, directory_admin_token: token } = endpointsSchema.parse(
    JSON.parse(text),
  );
  return { authUrl, url, token };
}
