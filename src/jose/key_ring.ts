/**
 * The platform's own keys: signing keys (the first signs, all are published), decryption keys (the first is
 * named to banks, all open). Private members never leave this file.
 */
import { z } from "zod";
import { SIGNATURE_ALG } from "../profile.ts";
import type { JsonObject } from "./compact_jws.ts";
import { type NamedKey } from "./sealed_jwt.ts";

/** The platform's keys, ready for use. */
export interface KeyRing {
  /** Signs hand-over JWTs and answers. Its kid is the certificate's x5t (Decision A11). */
  readonly signer: NamedKey;
  /** Open what banks send; any published one may have been used. */
  readonly decrypters: readonly NamedKey[];
  /** What `{auth_url}/jwks` serves: public members only. */
  readonly publicJwks: { readonly keys: readonly JsonObject[] };
}

const text = z.string().min(1);
const privateRsa = {
  kty: z.literal("RSA"),
  kid: text,
  n: text,
  e: text,
  d: text,
  p: text,
  q: text,
  dp: text,
  dq: text,
  qi: text,
};
const signingKey = z.object({
  ...privateRsa,
  use: z.literal("sig"),
  x5c: z.array(text).min(1),
  "x5t": text,
  "x5t#S256": text,
});
const decryptionKey = z.object({ ...privateRsa, use: z.literal("enc") });
const keySet = z.object({ keys: z.array(z.discriminatedUnion("use", [signingKey, decryptionKey])).min(2) });
type PrivateKey = z.infer<typeof signingKey> | z.infer<typeof decryptionKey>;

/**
 * Reads `PLATFORM_KEYS`: a private JWK set with at least one `use: sig` and one `use: enc` key, current ones first.
 *
 * @throws {Error} naming what is wrong, never a key's value
 */
export async function openKeyRing(json: string): Promise<KeyRing> {
  const keys = readKeySet(json);
  const signing = keys.filter((key) => key.use === "sig");
  const decrypting = keys.filter((key) => key.use === "enc");
  if (signing.length === 0 || decrypting.length === 0) {
    throw new Error("needs a `use: sig` and a `use: enc` key");
  }
  if (new Set(keys.map((key) => key.n)).size !== keys.length) {
    throw new Error("uses one key for two purposes"); // FAPI 6.8-2
  }
  const signer = await importPrivate(signing[0], { name: "RSA-PSS", hash: "SHA-256" }, "sign");
  const decrypters = await Promise.all(
    decrypting.map((key) => importPrivate(key, { name: "RSA-OAEP", hash: "SHA-256" }, "decrypt")),
  );
  return { signer, decrypters, publicJwks: { keys: keys.map(publicMembers) } };
}

function readKeySet(json: string): PrivateKey[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error("is not JSON");
  }
  const parsed = keySet.safeParse(value);
  if (parsed.success) return parsed.data.keys;
  const where = parsed.error.issues.map((issue) => issue.path.join(".") || "keys").join(", ");
  throw new Error(
    `is not a private JWK set with sig (kid, x5c, x5t, x5t#S256) and enc keys; look at: ${where}`,
  );
}

async function importPrivate(
  jwk: PrivateKey | undefined,
  algorithm: RsaHashedImportParams,
  usage: "sign" | "decrypt",
): Promise<NamedKey> {
  if (jwk === undefined) throw new Error("needs a `use: sig` and a `use: enc` key");
  const { kty, n, e, d, p, q, dp, dq, qi } = jwk;
  const key = await crypto.subtle.importKey("jwk", { kty, n, e, d, p, q, dp, dq, qi }, algorithm, false, [
    usage,
  ]);
  return { kid: jwk.kid, key };
}

function publicMembers(jwk: PrivateKey): JsonObject {
  const { kty, kid, n, e, use } = jwk;
  if (jwk.use === "enc") return { kty, kid, use, alg: "RSA-OAEP-256", n, e };
  return { kty, kid, use, alg: SIGNATURE_ALG, n, e, x5c: jwk.x5c, x5t: jwk.x5t, "x5t#S256": jwk["x5t#S256"] };
}
