/** Signs a JWT the way every JWT of this ecosystem is signed: PS256, a `typ`, a kid. */
import { SignJWT } from "jose";
import { SIGNATURE_ALG } from "../limits.ts";
import type { JsonObject } from "./compact_jws.ts";
import type { NamedKey } from "./sealed_jwt.ts";

/** A compact JWT over exactly these claims; times are the caller's. */
export function signClaims(claims: JsonObject, signer: NamedKey, typ = "JWT"): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: SIGNATURE_ALG, typ, kid: signer.kid })
    .sign(signer.key);
}
