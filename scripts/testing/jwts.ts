/**
 * JWTs as parties make them, valid by default; `header` and `claims` replace members, and `undefined` removes one. Made
 * with `jose` only, independent of the platform's own code.
 */
import { calculateJwkThumbprint, CompactEncrypt, CompactSign, FlattenedSign } from "jose";
import { bodyOf, type PlatformKeys, present } from "./answers.ts";
import { type TestKey } from "./keys.ts";
import { type Addresses, addressesOf } from "./addresses.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Replacements of a JWT's members. */
export interface Changes {
  readonly header?: JsonObject;
  readonly claims?: JsonObject;
}

/** A signer: the key and its kid. */
export interface Signer {
  readonly key: TestKey;
  readonly kid: string;
}

/** A participant as a signer of JWTs. */
interface Party {
  readonly orgId: string;
  readonly clientId: string;
  readonly signing: Signer;
}

/** When, and for which addresses, a JWT is made. */
interface Moment {
  /** Milliseconds. */
  readonly now: number;
  readonly addresses?: Addresses;
}

/** Members without those replaced by `undefined`. */
export function withChanges(members: JsonObject, changes: JsonObject = {}): JsonObject {
  return Object.fromEntries(
    Object.entries({ ...members, ...changes }).filter(([, value]) => value !== undefined),
  );
}

/** A compact JWS: PS256, typ JWT, the signer's kid. */
export async function signJwt(signer: Signer, claims: JsonObject, header: JsonObject = {}): Promise<string> {
  const protectedHeader = withChanges({ alg: "PS256", typ: "JWT", kid: signer.kid }, header);
  return await signBytes(signer.key, new TextEncoder().encode(JSON.stringify(claims)), protectedHeader);
}

/** A compact JWS over any bytes under any header that jose accepts. */
export async function signBytes(key: TestKey, payload: Uint8Array, header: JsonObject): Promise<string> {
  const privateKey = await key.privateKey("sign");
  return await new CompactSign(payload).setProtectedHeader({ alg: "PS256", ...header }).sign(privateKey);
}

/** A client assertion for a bank's issuer. */
export function clientAssertion(
  env: Moment,
  client: Party,
  bank: string,
  { header = {}, claims = {} }: Changes = {},
): Promise<string> {
  const iat = seconds(env);
  const good = {
    iss: client.clientId,
    sub: client.clientId,
    aud: `${addressesOf(env).authUrl}/${bank}`,
    iat,
    nbf: iat,
    exp: iat + 60,
    jti: crypto.randomUUID(),
  };
  return signJwt(client.signing, withChanges(good, claims), { typ: undefined, ...header });
}

/** The request that a DPoP proof is for. */
export interface ProofTarget {
  readonly method: string;
  readonly url: string;
  readonly accessToken?: string;
}

/** A DPoP proof by a key. */
export async function dpopProof(
  env: Pick<Moment, "now">,
  key: TestKey,
  target: ProofTarget,
  { header = {}, claims = {} }: Changes = {},
): Promise<string> {
  const ath = target.accessToken === undefined ? undefined : await sha256(target.accessToken);
  const good = { htm: target.method, htu: target.url, iat: seconds(env), jti: crypto.randomUUID(), ath };
  return await signJwt({ key, kid: "" }, withChanges(good, claims), {
    typ: "dpop+jwt",
    kid: undefined,
    jwk: key.publicJwk,
    ...header,
  });
}

/** RFC 7638 thumbprint of a key. */
export function thumbprint(key: TestKey): Promise<string> {
  return calculateJwkThumbprint({ ...key.publicJwk }, "sha256");
}

/** `x-jws-signature` over body bytes: profile A (`b64: false`) or B. */
export async function payloadSignature(
  env: Moment,
  signer: Party,
  body: string | Uint8Array,
  { profile = "B", header = {}, key }: { profile?: "A" | "B"; header?: JsonObject; key?: Signer } = {},
): Promise<string> {
  const { kid, key: signingKey } = key ?? signer.signing;
  const claims = {
    "http://openbanking.org.uk/iat": seconds(env),
    "http://openbanking.org.uk/iss": `${signer.orgId}/${signer.clientId}`,
    "http://openbanking.org.uk/tan": new URL(addressesOf(env).directoryUrl).host,
  };
  const crit = Object.keys(claims);
  const good = profile === "A"
    ? { alg: "PS256", kid, ...claims, b64: false, crit: ["b64", ...crit] }
    : { alg: "PS256", kid, ...claims, crit };
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = await new FlattenedSign(bytes)
    .setProtectedHeader({ alg: "PS256", ...withChanges(good, header) })
    .sign(await signingKey.privateKey("sign"), {
      crit: Object.fromEntries(crit.map((name) => [name, true])),
    });
  return `${signed.protected}..${signed.signature}`;
}

/** A platform whose key set can be read. */
type Published = Pick<Moment, "addresses"> & { browser(request: Request): Promise<Response> };

/** The platform's public encryption key. */
export async function platformEncryptionKey(env: Published): Promise<{ kid: string; key: CryptoKey }> {
  const published = new Request(`${addressesOf(env).authUrl}/jwks`);
  const { keys } = await bodyOf<PlatformKeys>(env.browser(published));
  const jwk = present(keys.find(({ use }) => use === "enc"));
  const algorithm = { name: "RSA-OAEP", hash: "SHA-256" };
  return { kid: jwk.kid, key: await crypto.subtle.importKey("jwk", jwk, algorithm, true, ["encrypt"]) };
}

/** Encrypts a compact JWS (or any text) to the platform, as banks do. */
export async function sealToPlatform(
  env: Published,
  plaintext: string,
  header: JsonObject = {},
): Promise<string> {
  const { kid, key } = await platformEncryptionKey(env);
  const protectedHeader = withChanges({ alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid }, header);
  return await new CompactEncrypt(new TextEncoder().encode(plaintext))
    .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", ...protectedHeader })
    .encrypt(key);
}

/** The environment's time in Unix seconds. */
export function seconds(env: Pick<Moment, "now">): number {
  return Math.floor(env.now / 1000);
}
