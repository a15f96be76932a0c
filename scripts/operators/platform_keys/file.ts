/**
 * The file of the platform's private keys: read whole, judged as the platform judges it, written whole or not at
 * all, for its owner alone. What is in it beside the keys stays as it is.
 */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import type { Token } from "../../../src/base/jose/own_key.ts";
import { giveToOwner } from "../../command_line/secret_file.ts";
import { KeysFailure, type KeyUse } from "./arguments.ts";

/** A key as the file holds it. A key in a token has no private members there. Times are Unix seconds. */
export interface StoredKey {
  readonly kty: "RSA";
  readonly use: KeyUse;
  readonly kid: string;
  readonly n: string;
  readonly e: string;
  readonly d?: string;
  readonly p?: string;
  readonly q?: string;
  readonly dp?: string;
  readonly dq?: string;
  readonly qi?: string;
  /** In use from then on; published before. Without it from the beginning. */
  readonly nbf?: number;
  /** Has a successor and is published until then. */
  readonly exp?: number;
  readonly x5c?: readonly string[];
  readonly x5t?: string;
  readonly "x5t#S256"?: string;
}

/** The file's content. */
export interface KeyFile {
  readonly keys: readonly StoredKey[];
}

/** How the content of a file is judged. */
export interface Judging {
  /** Milliseconds. */
  readonly now: number;
  /** Finds the private keys of a file that has none. Absent if the file has them. */
  readonly tokenOf?: ((file: KeyFile) => Token) | undefined;
}

/** Reads the file. @throws {KeysFailure} where there is none, or where the platform would not start with it */
export async function readKeyFile(path: string, judging: Judging): Promise<KeyFile> {
  const text = await Deno.readTextFile(path).catch(() => {
    throw new KeysFailure(`The file ${path} cannot be read.`);
  });
  await judge(path, text, judging);
  return JSON.parse(text) as KeyFile;
}

/** Writes the file for its owner alone, with the mode of the one that it replaces. @throws {KeysFailure} */
export async function writeKeyFile(
  path: string,
  content: KeyFile,
  { replace, ...judging }: { readonly replace: boolean } & Judging,
): Promise<void> {
  const text = `${JSON.stringify(content, undefined, 2)}\n`;
  await judge(path, text, judging);
  const before = replace ? await Deno.stat(path).catch(() => undefined) : await rejectExisting(path);
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(draft, text, { mode: 0o600, createNew: true });
    await giveToOwner(draft, before);
    if (before?.mode) await Deno.chmod(draft, before.mode & 0o770);
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw new KeysFailure(
      `The file ${path} cannot be written: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** @throws {KeysFailure} if the file exists */
export async function rejectExisting(path: string): Promise<undefined> {
  if (await Deno.stat(path).then(() => true, () => false)) {
    throw new KeysFailure(`The file ${path} is there already; rotate adds keys to it.`);
  }
}

async function judge(path: string, text: string, { now, tokenOf }: Judging): Promise<void> {
  try {
    await openKeyRing(text, () => now, tokenOf?.(JSON.parse(text) as KeyFile));
  } catch (error) {
    throw new KeysFailure(`The file ${path} ${error instanceof Error ? error.message : error}.`);
  }
  for (const key of (JSON.parse(text) as KeyFile).keys) {
    if (key.use === "sig") await judgeCertificate(path, key);
  }
}

// Banks find the key by its certificate's thumbprint (Decision A11) and may check the one against the other.
async function judgeCertificate(path: string, key: StoredKey): Promise<void> {
  const named = key.x5c?.[0] === undefined ? undefined : await certificateMembers(key.x5c);
  const own = named !== undefined && named.x5t === key.x5t && named.x5t === key.kid &&
    named["x5t#S256"] === key["x5t#S256"] && await modulusOf(key.x5c?.[0] ?? "") === key.n;
  if (!own) {
    throw new KeysFailure(
      `The file ${path} holds a signing key whose certificate or kid is not its own: ${key.kid}.`,
    );
  }
}

/** The members by which a JWK tells of its certificate chain (DER, base64; its own first). */
export async function certificateMembers(
  x5c: readonly string[],
): Promise<Required<Pick<StoredKey, "kid" | "x5c" | "x5t" | "x5t#S256">>> {
  const der = Uint8Array.fromBase64(x5c[0] ?? "");
  const digest = async (name: "SHA-1" | "SHA-256"): Promise<string> =>
    new Uint8Array(await crypto.subtle.digest(name, der)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    });
  const x5t = await digest("SHA-1");
  return { kid: x5t, x5c, x5t, "x5t#S256": await digest("SHA-256") };
}

/** The modulus that a certificate (DER, base64) certifies, as a JWK writes it. */
export async function modulusOf(certificate: string): Promise<string | undefined> {
  const { publicKey } = new X509Certificate(certificate);
  return (await crypto.subtle.exportKey("jwk", await publicKey.export())).n;
}
