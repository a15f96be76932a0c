/** Changes that plant faults in a copy of `examples/first_bank.ts`. */

/** One fault. */
export interface BankFault {
  readonly name: string;
  /** The only case that fails. */
  readonly found: string;
  readonly changes: readonly (readonly [string, string])[];
}

/** The text in a handover's JWE. */
export const CONTENT = "new TextDecoder().decode(plaintext)";
/** How the example opens a handover. */
export const OPEN = `await fromPlatform(${CONTENT}, "ref_id", "correlation_id")`;
/** How the example opens an order. */
export const TAKE = "await fromPlatform(jws)";

/** Accepts what the library rejected for one reason. */
export const unless = (condition: string): string =>
  `.catch((error: Json) => { if (${condition}) return error.payload; throw error; })`;

/** Verifies a JWT in another way if it has a certain header. */
const also = (jwt: string, condition: string, verified: string, usual: string): string =>
  `await (async (jwt: string): Promise<Json> => {
    const header = jose.decodeProtectedHeader(jwt) as Json;
    const keys = async () => (await (await fetch(\`\${platform.auth_url}/jwks\`)).json()).keys;
    if (${condition}) return ${verified};
    return ${usual};
  })(${jwt})`;

export const NONE = ['header.alg === "none"', "jose.decodeJwt<Json>(jwt)"] as const;
export const STRANGER = [
  "header.jwk !== undefined",
  '(await jose.jwtVerify<Json>(jwt, await jose.importJWK(header.jwk, "PS256"))).payload',
] as const;
export const ENCRYPTION_KEY = [
  '(await keys()).some(({ kid, use }: Json) => kid === header.kid && use === "enc")',
  `(await jose.jwtVerify<Json>(jwt, await jose.importJWK(
     { ...(await keys()).find(({ kid }: Json) => kid === header.kid), use: "sig", alg: "PS256" }, "PS256"))).payload`,
] as const;
export const PUBLIC_KEY = [
  'header.alg === "HS256"',
  `(await jose.jwtVerify<Json>(jwt, bytes(await jose.exportSPKI(await jose.importJWK(
     (await keys()).find(({ kid }: Json) => kid === header.kid), "PS256", { extractable: true }) as CryptoKey)))).payload`,
] as const;
export const OTHER_ALGORITHM = [
  'header.alg === "RS256"',
  `(await jose.jwtVerify<Json>(jwt, await jose.importJWK(
     { ...(await keys()).find(({ kid }: Json) => kid === header.kid), alg: "RS256" }, "RS256"))).payload`,
] as const;
/** Accepts a JWT, which is written JWT here, whose signature is not over its content. */
export const BROKEN_SIGNATURE = `.catch((error: Json) => {
    if (error.code !== "ERR_JWS_SIGNATURE_VERIFICATION_FAILED") throw error;
    return jose.decodeJwt<Json>(JWT);
  })`;

/** The example with another way to open handovers. */
export function opening(
  [condition, verified]: readonly [string, string],
): readonly (readonly [string, string])[] {
  return [[OPEN, also(CONTENT, condition, verified, 'await fromPlatform(jwt, "ref_id", "correlation_id")')]];
}

/** The example with another way to open orders. */
export function taking(
  [condition, verified]: readonly [string, string],
): readonly (readonly [string, string])[] {
  return [[TAKE, also("jws", condition, verified, "await fromPlatform(jwt)")]];
}
