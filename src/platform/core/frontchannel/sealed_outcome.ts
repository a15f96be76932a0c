/**
 * Encrypts the next URL of a finished session, so that the same browser can be sent there again after a double click
 * or a reload. The key is derived from the session's form token, which only that browser's cookie and forms contain.
 * The store therefore contains no readable code.
 */
import { sha256Bytes } from "../../../base/kernel/identifiers.ts";

const ALGORITHM = "AES-GCM";
const IV_BYTES = 12;

/** Encrypts the URL with the form token; base64. */
export async function sealOutcome(token: string, url: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = await crypto.subtle.encrypt(
    { name: ALGORITHM, iv },
    await keyOf(token, "encrypt"),
    encodeText(url),
  );
  return new Uint8Array([...iv, ...new Uint8Array(sealed)]).toBase64();
}

/** Decrypts the URL. Returns null if it was encrypted with another token, or if one of both is missing. */
export async function openOutcome(
  token: string | undefined,
  sealed: string | undefined,
): Promise<string | null> {
  if (token === undefined || sealed === undefined) return null;
  const bytes = Uint8Array.fromBase64(sealed);
  const iv = bytes.slice(0, IV_BYTES);
  const key = await keyOf(token, "decrypt");
  const opened = crypto.subtle.decrypt({ name: ALGORITHM, iv }, key, bytes.slice(IV_BYTES));
  return await opened.then((url) => new TextDecoder().decode(url), () => null); // the tag is wrong
}

async function keyOf(token: string, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  const bytes = await sha256Bytes(encodeText(`outcome ${token}`)); // the token has 256 random bits, so a hash is enough
  return await crypto.subtle.importKey("raw", bytes, ALGORITHM, false, [use]);
}

function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
