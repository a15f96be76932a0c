/** Counts the asymmetric cryptography of a request by wrapping WebCrypto during the request. */

/** RSA operations. */
export interface Cost {
  /** Signatures checked. */
  readonly verified: number;
  /** JWEs decrypted, including failed attempts. */
  readonly decrypted: number;
  /** Signatures made: responses of resource endpoints, JWTs for banks. */
  readonly signed: number;
}

/** No cost. */
export const FREE: Cost = { verified: 0, decrypted: 0, signed: 0 };

const COUNTED = {
  verify: "verified",
  decrypt: "decrypted",
  unwrapKey: "decrypted",
  deriveBits: "decrypted",
  sign: "signed",
} as const;

/** The cost of an act in this process; acts must not overlap. Symmetric keys are not counted, key derivation is. */
export async function costOf<T>(act: () => Promise<T>): Promise<{ readonly result: T; readonly cost: Cost }> {
  const cost = { verified: 0, decrypted: 0, signed: 0 };
  const { subtle } = crypto;
  for (const [method, counter] of Object.entries(COUNTED)) {
    const original: unknown = Reflect.get(subtle, method);
    if (typeof original !== "function") throw new TypeError(`WebCrypto has no ${method}`);
    Reflect.set(subtle, method, (...given: readonly unknown[]): unknown => {
      if (method === "deriveBits" || given.some(isAsymmetric)) cost[counter] += 1;
      return Reflect.apply(original, subtle, given);
    });
  }
  try {
    return { result: await act(), cost };
  } finally {
    for (const method of Object.keys(COUNTED)) Reflect.deleteProperty(subtle, method);
  }
}

function isAsymmetric(given: unknown): boolean {
  return given instanceof CryptoKey && given.type !== "secret";
}
