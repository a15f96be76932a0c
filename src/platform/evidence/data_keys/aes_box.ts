/** AES-256-GCM (NIST SP 800-38D) with a random IV of 96 bits. A box is the IV and the ciphertext with its tag. */

/** The fault of a box that does not open. */
export const NOT_ITS_BOX =
  "sealed data does not open with its key: it was changed, or the key is another one";

const IV_BYTES = 12;
const UTF8 = new TextEncoder();

/** @param name authenticated with the content: a box opens only under the name that it was made for */
export async function sealBox(
  key: CryptoKey,
  name: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const options = { name: "AES-GCM", iv, additionalData: UTF8.encode(name) };
  const ciphertext = new Uint8Array(await crypto.subtle.encrypt(options, key, content));
  const box = new Uint8Array(IV_BYTES + ciphertext.length);
  box.set(iv);
  box.set(ciphertext, IV_BYTES);
  return box;
}

/** @throws {Error} if the box was changed, or made with another key or name */
export async function openBox(
  key: CryptoKey,
  name: string,
  box: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const options = { name: "AES-GCM", iv: box.slice(0, IV_BYTES), additionalData: UTF8.encode(name) };
  try {
    return new Uint8Array(await crypto.subtle.decrypt(options, key, box.slice(IV_BYTES)));
  } catch {
    throw new Error(NOT_ITS_BOX);
  }
}
