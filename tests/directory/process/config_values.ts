/** The configuration of a directory for tests. */
import { readDirectoryConfig } from "../../../src/directory/process/config.ts";
import type { FileModes } from "../../../src/directory/config/file_modes.ts";
import { statementJwk } from "../../../src/directory/statements/statement_keys.ts";
import { privatePem, START, testAuthority } from "testing/directory_environment.ts";
import { testKey } from "testing/keys.ts";
import { certifierKeys } from "../certification/certified.ts";

/** The variables of a directory that may start. */
export async function environment(): Promise<Record<string, string | undefined>> {
  const ca = await testAuthority();
  return {
    DIRECTORY_ISSUER: "https://directory.example",
    DIRECTORY_STORE_URL: "/var/lib/directory.kv",
    DIRECTORY_ADMINISTRATORS: "administrators.json",
    DIRECTORY_CA_CERT: ca.certificatePem,
    DIRECTORY_CA_KEY: "ca.key.pem",
    DIRECTORY_SIGNING_KEYS: await signingKeys(),
  };
}

/** A private key set for statements. */
export async function signingKeys(): Promise<string> {
  return JSON.stringify({ keys: [await statementJwk(await privatePem(await testKey(14)))] });
}

/** Reads these variables beside those of {@link environment}. */
export async function read(
  changes: Record<string, string | undefined> = {},
): ReturnType<typeof readDirectoryConfig> {
  const files: Record<string, string> = {
    "ca.key.pem": (await testAuthority()).privateKeyPem,
    "administrators.json": '{"administrators":[]}',
    "certifiers.json": await certifierKeys(),
  };
  const readFile = (path: string): Promise<string> => {
    const text = files[path];
    return text === undefined ? Promise.reject(new Error("no such file")) : Promise.resolve(text);
  };
  const modesOf = (): Promise<FileModes> => Promise.resolve({ file: 0o100600, folder: 0o40700 });
  const env = { ...await environment(), ...changes };
  return await readDirectoryConfig({ env, readFile, modesOf, now: START });
}
