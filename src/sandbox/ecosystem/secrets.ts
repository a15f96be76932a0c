/** The sandbox's shared secrets: made at the first start, kept for its owner alone. */
import { z } from "zod";
import { asJson, readIfAny, type SandboxFiles, writeSecret } from "./sandbox_files.ts";

/** Secrets between the parts of one sandbox. */
export interface Secrets {
  /** Bearer token of the directory's administration. */
  readonly directoryAdminToken: string;
  /** What the front door proves itself with to the platform (Decision A8). */
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
