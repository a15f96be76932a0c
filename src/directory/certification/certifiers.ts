/**
 * The certifiers whose reports the directory accepts (Decision E5): a public JWK set, each key with the certifier's
 * address as `iss`.
 */
import { z } from "zod";
import { importRsaPublicKey, readRsaPublicJwk } from "../../base/jose/rsa_key.ts";
import type { Signer } from "../../base/jose/verify_jwt.ts";
import { parseJson } from "../../base/http/credentials.ts";

/** A certifier's key, and the `iss` that its reports must have. */
export interface Certifier extends Signer {
  readonly kid: string;
  readonly issuer: string;
}

export interface Certifiers {
  /** The certifier with this key id, or undefined. */
  find(kid: unknown): Certifier | undefined;
}

/** No certifier: every report is rejected. */
export const NO_CERTIFIERS: Certifiers = { find: () => undefined };

const MAX_KEYS = 20;
const keySet = z.object({
  keys: z.array(z.looseObject({
    kid: z.string().min(1).max(128),
    iss: z.url({ protocol: /^https?$/ }).max(256),
    use: z.literal("sig").optional(),
    alg: z.literal("PS256").optional(),
  })).min(1).max(MAX_KEYS),
});

/**
 * Opens the certifiers' key set.
 *
 * @throws {Error} with a message to be appended to the name of the variable; never quotes a key
 */
export async function openCertifiers(json: string): Promise<Certifiers> {
  const parsed = keySet.safeParse(parseJson(json));
  if (!parsed.success) {
    const where = parsed.error.issues.map((issue) => issue.path.join(".") || "keys").join(", ");
    throw new Error(
      `is not a JWK set whose keys have kid and iss (the certifier's address); look at: ${where}`,
    );
  }
  const certifiers = await Promise.all(parsed.data.keys.map(async (jwk): Promise<Certifier> => {
    const checked = readRsaPublicJwk(jwk);
    if (!checked.ok) {
      throw new Error(`has a key that is not usable: ${checked.fault.at}: ${checked.fault.expected}`);
    }
    return { kid: jwk.kid, issuer: jwk.iss, key: await importRsaPublicKey(checked.value, "verify") };
  }));
  const byKid = new Map(certifiers.map((certifier) => [certifier.kid, certifier]));
  if (byKid.size !== certifiers.length) throw new Error("has two keys with one kid");
  return { find: (kid) => typeof kid === "string" ? byKid.get(kid) : undefined };
}
