/** The signature of a release: Ed25519 over the bytes of `SHA256SUMS`, which `openssl pkeyutl` verifies. */
import { isHandedOver } from "../../../src/base/http/secret_files.ts";

/** @param path of a private key in PEM, as `openssl genpkey -algorithm ed25519` makes it. @throws {Error} in one sentence */
export async function openReleaseKey(path: string): Promise<CryptoKey> {
  const { mode } = await Deno.stat(path).catch(() => {
    throw new Error(`--key: the file ${path} cannot be read`);
  });
  if (mode !== null && (mode & 0o077) !== 0 && !isHandedOver(path)) {
    throw new Error(`--key: others may open ${path}; chmod 600 ${path}`);
  }
  const [, text = ""] = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/
    .exec(await Deno.readTextFile(path)) ?? [];
  try {
    return await crypto.subtle.importKey("pkcs8", Uint8Array.fromBase64(text), "Ed25519", false, ["sign"]);
  } catch {
    throw new Error(`--key: ${path} is not an Ed25519 key in PEM (openssl genpkey -algorithm ed25519)`);
  }
}

/** Writes `SHA256SUMS.sig` into the folder of a release. */
export async function signSums(folder: string, key: CryptoKey): Promise<void> {
  const signature = await crypto.subtle.sign("Ed25519", key, await Deno.readFile(`${folder}/SHA256SUMS`));
  await Deno.writeFile(`${folder}/SHA256SUMS.sig`, new Uint8Array(signature));
}
