/** Handover JWTs as the platform makes them. */
import type { JsonObject } from "../../src/base/jose/compact_jws.ts";
import { type OwnKey, signClaims } from "../../src/base/jose/own_key.ts";
import { type NamedKey, seal } from "../../src/base/jose/sealed_jwt.ts";

/** Signs the claims and encrypts the JWT to the recipient. */
export async function sealClaims(claims: JsonObject, signer: OwnKey, recipient: NamedKey): Promise<string> {
  return await seal(await signClaims(claims, signer), recipient);
}
