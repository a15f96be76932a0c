/**
 * Thousands of forgeries have the same genuine keys and signatures. Within the test each public key is imported once, and
 * each signature is verified once, by the real functions, whoever asks. The exception are signatures that the test
 * vouches for: the holder of a key could make them, and making and verifying each would take most of the test's time.
 */
import { sha256Text } from "./encoding.ts";

interface Subtle {
  importKey(...given: unknown[]): Promise<CryptoKey>;
  verify(algorithm: unknown, key: CryptoKey, signature: Uint8Array, data: Uint8Array): Promise<boolean>;
}

/** Returns a text of a value that is different for different values: bytes in base64, keys by their number. */
function nameOf(value: unknown, keys: Map<CryptoKey, number>): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (member instanceof CryptoKey) {
      const number = keys.get(member) ?? keys.size;
      keys.set(member, number);
      return `key ${number}`;
    }
    if (member instanceof ArrayBuffer) return new Uint8Array(member).toBase64();
    if (!ArrayBuffer.isView(member)) return member;
    return new Uint8Array(member.buffer as ArrayBuffer, member.byteOffset, member.byteLength).toBase64();
  });
}

/** By the modulus of the key and the SHA-256 of what is signed. */
const vouched = new Map<string, string>();
const SIGNATURE_BYTES = 256;

/**
 * Returns a signature of the holder of a key. Until {@link answerOnce} ends it verifies like one that was made.
 *
 * @param modulus of the key, base64url
 */
export function vouchFor(modulus: string, signed: string): Uint8Array {
  const signature = crypto.getRandomValues(new Uint8Array(SIGNATURE_BYTES));
  vouched.set(`${modulus} ${sha256Text(signed)}`, signature.toBase64());
  return signature;
}

/** Until it is disposed of, WebCrypto answers each question about public keys once. */
export function answerOnce(): Disposable {
  const subtle: Subtle = Object(SubtleCrypto.prototype);
  const { importKey, verify } = subtle;
  const keys = new Map<CryptoKey, number>();
  const moduli = new WeakMap<CryptoKey, unknown>();
  const imported = new Map<string, Promise<CryptoKey>>();
  const verified = new Map<string, Promise<boolean>>();
  subtle.importKey = function (...given): Promise<CryptoKey> {
    const [format, key, , , uses] = given;
    const isPublic = JSON.stringify(uses) === '["verify"]' && (format === "spki" || !("d" in Object(key)));
    if (!isPublic) return importKey.apply(this, given);
    const [, , algorithm] = given;
    const { kty, n, e } = Object(key) as Record<string, unknown>; // one verifier adds the other members, and one does not
    const name = nameOf(format === "jwk" ? [kty, n, e, algorithm] : given, keys);
    const answer = imported.get(name) ?? importKey.apply(this, given);
    imported.set(name, answer);
    return answer.then((made) => {
      moduli.set(made, n);
      return made;
    });
  };
  subtle.verify = function (...given): Promise<boolean> {
    const [, key, signature, data] = given;
    const known = vouched.get(`${moduli.get(key)} ${sha256Text(data)}`);
    if (known !== undefined && known === signature.toBase64()) return Promise.resolve(true);
    const name = nameOf(given, keys);
    const answer = verified.get(name) ?? verify.apply(this, given);
    verified.set(name, answer);
    return answer;
  };
  return { [Symbol.dispose]: () => void Object.assign(subtle, { importKey, verify }) };
}
