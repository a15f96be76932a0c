/**
 * Where a finished interaction sent its browser, kept so that the same browser can be sent there again: a double click
 * or a reload must not leave a customer who has decided on a dead end. Sealed with the session's form token, which only
 * that browser's cookie and the forms on its screen have, so the store holds no code that anyone else could read.
 */
import { sha256Bytes } from "../../base/kernel/identifiers.ts";

const ALGORITHM = "AES-GCM";
const IV_BYTES = 12;

/** The URL, sealed to the form token; base64. */
export async function sealOutcome(token: string, url: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = await crypto.subtle.encrypt(
    { name: ALGORITHM, iv },
    await keyOf(token, "encrypt"),
    encoded(url),
  );
  return new Uint8Array([...iv, ...new Uint8Array(sealed)]).toBase64();
}

/** The URL again, or null if it was sealed to another token. */
export async function openOutcome(token: string, sealed: string): Promise<string | null> {
  const bytes = Uint8Array.fromBase64(sealed);
  const iv = bytes.slice(0, IV_BYTES);
  const key = await keyOf(token, "decrypt");
  try {
    const url = await crypto.subtle.decrypt({ name: ALGORITHM, iv }, key, bytes.slice(IV_BYTES));
    return new TextDecoder().decode(url);
  } catch (error) {
    if (error instanceof DOMException && error.name === "OperationError") return null; // WebCrypto: the tag is wrong
    throw error;
  }
}

async function keyOf(token: string, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  const bytes = await sha256Bytes(encoded(`outcome ${token}`)); // 256 random bits go in, so a hash derives the key
  return await crypto.subtle.importKey("raw", bytes, ALGORITHM, false, [use]);
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
