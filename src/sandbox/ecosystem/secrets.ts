/** The sandbox's shared secrets: created at the first start, readable only by their owner. */
import { z } from "zod";
import { asJson, readIfAny, type SandboxFiles, writeSecret } from "./sandbox_files.ts";

/** Secrets between the parts of one sandbox. */
export interface Secrets {
  /** Bearer token of the directory's administration API. */
  readonly directoryAdminToken: string;
  /** The secret with which the front door authenticates to the platform (Decision A8). */
  readonly proxySecret: string;
}

const secret = z.string().min(32);
const schema = z.object({ directoryAdminToken: secret, proxySecret: secret });

/** The sandbox's secrets. */
export async function openSecrets(files: SandboxFiles): Promise<Secrets> {
  const kept = await readIfAny(files.secrets);
  if (kept !== undefined) return schema.parse(JSON.parse(kept));
  const secrets = { directoryAdminToken: newSecret(), proxySecret: newSecret() };
  await writeSecret(files.secrets, asJson(secrets));
  return secrets;
}

function newSecret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}
