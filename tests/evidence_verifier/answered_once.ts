/**
 * Thousands of forgeries have the same genuine keys and signatures. Within the test each public key is imported once, and
 * each signature is verified once, by the real functions, whoever asks.
 */

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

/** Until it is disposed of, WebCrypto answers each question about public keys once. */
export function answerOnce(): Disposable {
  const subtle: Subtle = Object(SubtleCrypto.prototype);
  const { importKey, verify } = subtle;
  const keys = new Map<CryptoKey, number>();
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
    return answer;
  };
  subtle.verify = function (...given): Promise<boolean> {
    const name = nameOf(given, keys);
    const answer = verified.get(name) ?? verify.apply(this, given);
    verified.set(name, answer);
    return answer;
  };
  return { [Symbol.dispose]: () => void Object.assign(subtle, { importKey, verify }) };
}
