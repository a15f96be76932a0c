/** Signs a JWT with PS256, a `typ` and a kid, as all parts of this ecosystem do. */
import { SignJWT } from "jose";
import { SIGNATURE_ALG } from "../limits.ts";
import type { JsonObject } from "./compact_jws.ts";
import type { NamedKey } from "./sealed_jwt.ts";

/** Returns a compact JWT with exactly these claims. The caller sets the times. */
export function signClaims(claims: JsonObject, signer: NamedKey, typ = "JWT"): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: SIGNATURE_ALG, typ, kid: signer.kid })
    .sign(signer.key);
}
