/**
 * DPoP proofs for a resource request, wrong in one way each (contract DP1 to DP16), and odd ones that are right.
 * Proofs whose header jose would not write are made by hand.
 */
import { ps256, rawJws, segment } from "../../scripts/testing/raw_jws.ts";
import {
  dpopProof,
  type JsonObject,
  type ProofTarget,
  sha256,
  signJwt,
  withChanges,
} from "../../scripts/testing/jwts.ts";
import { smallTestKey, type TestKey, testKey } from "../../scripts/testing/keys.ts";
import type { Environment } from "../../scripts/testing/environment.ts";

/** The request that a proof is for, and the key of its token. */
export interface ProofFixture {
  readonly env: Environment;
  readonly key: TestKey;
  readonly target: Required<ProofTarget>;
}

/** One proof; null leaves the header out. */
export interface ProofCase {
  readonly name: string;
  readonly proof: (fixture: ProofFixture) => Promise<string | null>;
}

function changed(name: string, header: JsonObject, claims: JsonObject = {}): ProofCase {
  return { name, proof: ({ env, key, target }) => dpopProof(env, key, target, { header, claims }) };
}

function claims(
  name: string,
  replaced: (fixture: ProofFixture) => JsonObject | Promise<JsonObject>,
): ProofCase {
  return {
    name,
    proof: async (fixture) =>
      dpopProof(fixture.env, fixture.key, fixture.target, { claims: await replaced(fixture) }),
  };
}

function time(name: string, replaced: (now: number) => JsonObject): ProofCase {
  return claims(name, ({ env }) => replaced(Math.floor(env.now / 1000)));
}

function url(name: string, replaced: (url: string) => string): ProofCase {
  return claims(name, ({ target }) => ({ htu: replaced(target.url) }));
}

function text(name: string, replaced: (proof: string) => string): ProofCase {
  return { name, proof: async ({ env, key, target }) => replaced(await dpopProof(env, key, target)) };
}

/** A proof over any header, signed with PS256 by the token's key or another. */
function raw(
  name: string,
  header: (key: TestKey) => JsonObject | Promise<JsonObject>,
  by?: () => Promise<TestKey>,
): ProofCase {
  return {
    name,
    proof: async (fixture) => {
      const good = { typ: "dpop+jwt", alg: "PS256", jwk: fixture.key.publicJwk };
      const input = `${segment(withChanges(good, await header(fixture.key)))}.${
        segment(await goodClaims(fixture))
      }`;
      const signer = await by?.() ?? fixture.key;
      return `${input}.${await ps256(await signer.privateKey("sign"), input)}`;
    },
  };
}

async function goodClaims({ env, target }: ProofFixture): Promise<JsonObject> {
  const { method: htm, url: htu, accessToken } = target;
  const iat = Math.floor(env.now / 1000);
  return { htm, htu, iat, jti: crypto.randomUUID(), ath: await sha256(accessToken) };
}

async function asArray(proof: Promise<string>): Promise<string> {
  const [header = "", payload = "", signature = ""] = (await proof).split(".");
  return JSON.stringify({ payload, signatures: [{ protected: header, signature }] });
}

const EC_JWK = { kty: "EC", crv: "P-256", x: "a".repeat(43), y: "b".repeat(43) };

/** Each is rejected with 401 `invalid_dpop_proof`. */
export const REJECTED_PROOFS: readonly ProofCase[] = [
  { name: "no proof [DP-N1]", proof: () => Promise.resolve(null) },
  text("one proof twice in the header [DP-N2]", (proof) => `${proof}, ${proof}`),
  text("two segments [DP-N3]", (proof) => proof.split(".").slice(0, 2).join(".")),
  text("four segments [DP-N3]", (proof) => `${proof}.AAAA`),
  text("empty [DP-N3]", () => ""),
  text("padded [DP-N3]", (proof) => `${proof}==`),
  {
    name: "JSON serialisation [DP-N3]",
    proof: ({ env, key, target }) => asArray(dpopProof(env, key, target)),
  },
  changed("typ missing [DP-N4]", { typ: undefined }),
  changed("typ JWT [DP-N4]", { typ: "JWT" }),
  changed("typ dpop+jwt+wrongyousee [DP-N4]", { typ: "dpop+jwt+wrongyousee" }),
  raw("typ number [DP-N4]", () => ({ typ: 1 })),
  raw("alg missing [DP-N5]", () => ({ alg: undefined })),
  raw("alg none [DP-N5]", () => ({ alg: "none" })),
  text(
    "alg none, unsigned [DP-N5]",
    (proof) => `${segment({ typ: "dpop+jwt", alg: "none" })}.${proof.split(".")[1]}.`,
  ),
  raw("alg HS256 [DP-N5]", () => ({ alg: "HS256" })),
  raw("alg RS256 [DP-N5]", () => ({ alg: "RS256" })),
  raw("alg ES256 with an EC key [DP-N5]", () => ({ alg: "ES256", jwk: EC_JWK })),
  raw("PS256 with an EC key [DP-N5]", () => ({ jwk: EC_JWK })),
  raw("jwk missing [DP-N6]", () => ({ jwk: undefined })),
  raw("jwk private [DP-N6]", (key) => ({ jwk: key.privateJwk })),
  raw(
    "jwk with p and q only [DP-N6]",
    ({ publicJwk, privateJwk: { p, q } }) => ({ jwk: { ...publicJwk, p, q } }),
  ),
  raw("jwk oct [DP-N6]", () => ({ jwk: { kty: "oct", k: "AAAA" } })),
  raw("jwk string [DP-N6]", (key) => ({ jwk: JSON.stringify(key.publicJwk) })),
  raw("jwk array [DP-N6]", (key) => ({ jwk: [key.publicJwk] })),
  raw("jwk null [DP-N6]", () => ({ jwk: null })),
  raw("jwk of 1024 bits [DP-N6]", async () => ({ jwk: (await smallTestKey()).publicJwk }), smallTestKey),
  raw("jwk with e=1 [DP-N6]", (key) => ({ jwk: { ...key.publicJwk, e: "AQ" } })),
  raw(
    "jwk with a leading zero in n [DP-N6]",
    (key) => ({ jwk: { ...key.publicJwk, n: withLeadingZero(key) } }),
  ),
  raw("jwk with padded e [DP-N6]", (key) => ({ jwk: { ...key.publicJwk, e: "AQAB====" } })),
  raw("signed by another key than jwk [DP-N7]", () => ({}), () => testKey(10)),
  text(
    "signature altered [DP-N7]",
    (proof) => proof.slice(0, -8) + (proof.endsWith("AAAAAAAA") ? "B" : "A").repeat(8),
  ),
  text("claims altered [DP-N7]", (proof) => {
    const [header, , signature] = proof.split(".");
    return `${header}.${segment({ jti: "x" })}.${signature}`;
  }),
  claims("jti missing [DP-N8]", () => ({ jti: undefined })),
  claims("jti empty [DP-N8]", () => ({ jti: "" })),
  claims("jti number [DP-N8]", () => ({ jti: 7 })),
  claims("jti of 5 kB [DP-N8]", () => ({ jti: "j".repeat(5120) })),
  claims("htm missing [DP-N8]", () => ({ htm: undefined })),
  claims("htu missing [DP-N8]", () => ({ htu: undefined })),
  claims("iat missing [DP-N8]", () => ({ iat: undefined })),
  claims("htm PUT [DP-N9]", () => ({ htm: "PUT" })),
  claims("htm in lower case [DP-N9]", ({ target }) => ({ htm: target.method.toLowerCase() })),
  claims(
    "htm of the other method [DP-N9]",
    ({ target }) => ({ htm: target.method === "GET" ? "POST" : "GET" }),
  ),
  url("htu other host [DP-N10]", (good) => good.replace("api.platform", "api.other")),
  url("htu other path [DP-N10]", (good) => `${good}/more`),
  url("htu with a trailing slash [DP-N10]", (good) => `${good}/`),
  url("htu other bank [DP-N10]", (good) => good.replace("BANKA", "BANKB")),
  url("htu bank in other case [DP-N10]", (good) => good.replace("BANKA", "banka")),
  url("htu http [DP-N10]", (good) => good.replace("https:", "http:")),
  url("htu other port [DP-N10]", (good) => good.replace(".example/", ".example:8443/")),
  url("htu of the token endpoint [DP-N10]", (good) => `${new URL(good).origin}/BANKA/token.oauth2/v1`),
  url("htu of another resource [DP-N10]", (good) => good.replace(/v1.*$/, `v1/${crypto.randomUUID()}`)),
  url("htu relative [DP-N10]", (good) => new URL(good).pathname),
  url("htu with userinfo [DP-N10]", (good) => good.replace("https://", "https://user@")),
  claims("htu array [DP-N10]", ({ target }) => ({ htu: [target.url] })),
  time("iat 31 s ahead [DP-N13]", (now) => ({ iat: now + 31 })),
  time("iat 62 s ahead [DP-N13]", (now) => ({ iat: now + 62 })),
  time("iat an hour ahead [DP-N13]", (now) => ({ iat: now + 3600 })),
  time("iat 61 s old [DP-N13]", (now) => ({ iat: now - 61 })),
  time("iat an hour old [DP-N13]", (now) => ({ iat: now - 3600 })),
  time("iat text [DP-N13]", (now) => ({ iat: String(now) })),
  { name: "iat 1e999 [DP-N13]", proof: withInfiniteTime },
  claims("ath missing [DP-N16]", () => ({ ath: undefined })),
  claims("ath wrong [DP-N16]", async () => ({ ath: await sha256("another token") })),
  claims("ath padded [DP-N16]", async ({ target }) => ({ ath: `${await sha256(target.accessToken)}=` })),
  claims("ath in hex [DP-N16]", async ({ target }) => ({ ath: await hexSha256(target.accessToken) })),
  claims("ath the token itself [DP-N16]", ({ target }) => ({ ath: target.accessToken })),
  time("exp in the past [DP-N20]", (now) => ({ exp: now - 30 })),
  url(
    "htu of another host that the request names as its own [DP-N21]",
    (good) => good.replace("api.platform.example", "evil.example"),
  ),
];

/** Each is good, however odd. */
export const ACCEPTED_PROOFS: readonly ProofCase[] = [
  url("htu with query and fragment [DP-N11]", (good) => `${good}?x#y`),
  url(
    "htu with upper case host and scheme [DP-N11]",
    (good) => good.replace("https://api.platform", "HTTPS://API.Platform"),
  ),
  url("htu with explicit port 443 [DP-N11]", (good) => good.replace(".example/", ".example:443/")),
  url("htu with a dot segment [DP-N11]", (good) => good.replace("/v1", "/./v1")),
  url("htu with an escaped letter [DP-N11]", (good) => good.replace("/v1", "/%76%31")),
  time("iat 8 s ahead [DP-N12]", (now) => ({ iat: now + 8 })),
  time("iat 30 s ahead [DP-N12]", (now) => ({ iat: now + 30 })),
  time("iat 10 s old [DP-N12]", (now) => ({ iat: now - 10 })),
  time("iat 60 s old [DP-N12]", (now) => ({ iat: now - 60 })),
  time("nbf now, exp in 300 s [DP-N19]", (now) => ({ nbf: now, exp: now + 300 })),
  claims("nonce nobody asked for [DP-N24]", () => ({ nonce: "n-1" })),
  claims("unknown claim [DP-N24]", () => ({ tx_id: "tx-1" })),
  changed("typ as a full media type [DP-N4]", { typ: "application/DPoP+JWT" }),
  raw("jwk with more public members [DP-N6]", ({ publicJwk }) => ({
    jwk: { ...publicJwk, use: "sig", kid: "k", alg: "PS256", "x5t#S256": "t" },
  })),
  { name: "kid that names nothing [DP-N6]", proof: withKid },
];

async function withKid(fixture: ProofFixture): Promise<string> {
  return await signJwt({ key: fixture.key, kid: "k" }, await goodClaims(fixture), {
    typ: "dpop+jwt",
    jwk: fixture.key.publicJwk,
  });
}

async function withInfiniteTime(fixture: ProofFixture): Promise<string> {
  const payload = JSON.stringify({ ...await goodClaims(fixture), iat: 0 }).replace('"iat":0', '"iat":1e999');
  return await rawJws(
    await fixture.key.privateKey("sign"),
    { typ: "dpop+jwt", alg: "PS256", jwk: fixture.key.publicJwk },
    payload,
  );
}

function withLeadingZero({ publicJwk }: TestKey): string {
  return segment(new Uint8Array([0, ...Uint8Array.fromBase64(publicJwk.n, { alphabet: "base64url" })]));
}

async function hexSha256(text: string): Promise<string> {
  return Uint8Array.fromBase64(await sha256(text), { alphabet: "base64url" }).toHex();
}
