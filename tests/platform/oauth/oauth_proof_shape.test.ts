/** DPoP proofs at the token endpoint (both grants) and PAR: header field, spelling, type, algorithm and key. */
import { assertEquals } from "@std/assert";
import { dpopKey } from "../../../scripts/testing/flows.ts";
import { dpopProof, type JsonObject, seconds, withChanges } from "../../../scripts/testing/jwts.ts";
import { largeTestKey, smallTestKey, type TestKey, testKey } from "../../../scripts/testing/keys.ts";
import {
  acceptedEverywhere,
  assertAccepted,
  assertRejected,
  type Case,
  clientCredentials,
  codeGrant,
  type OAuthEndpoint,
  oauthEndpoints,
  rejectedEverywhere,
} from "../../../scripts/testing/oauth_requests.ts";
import { type Environment, openEnvironment } from "../../../scripts/testing/environment.ts";
import {
  bytesOf,
  importPrivate,
  type Part,
  ps256,
  rawJws,
  segment,
  strayBits,
} from "../../../scripts/testing/raw_jws.ts";

const REJECTED = [400, "invalid_dpop_proof"] as const;

Deno.test("POST token rejects a request without DPoP, with either grant [DP-N1, TA-N14, TC7] [FAPI-D10] [TC1] [TA1]", async (t) => {
  await using env = await openEnvironment();
  const endpoints = [clientCredentials(env), codeGrant(env)];
  await rejectedEverywhere(t, env, REJECTED, { "no header": () => ({ proof: null }) }, endpoints);
});

Deno.test("POST par goes without DPoP [PA9]", async (t) => {
  await using env = await openEnvironment();
  const endpoints = (await oauthEndpoints(env)).filter(({ name }) => name === "PAR");
  await acceptedEverywhere(t, env, { "no header": () => ({ proof: null }) }, endpoints);
});

Deno.test("POST token, par reject more than one DPoP header or value [DP-N2] [DP1]", async (t) => {
  await using env = await openEnvironment();
  const key = await dpopKey();
  await rejectedEverywhere(t, env, REJECTED, {
    "one value twice": async ({ target }) => {
      const proof = await dpopProof(env, key, target);
      return { proof: `${proof}, ${proof}` };
    },
    "two values": async ({ target }) => ({
      proof: `${await dpopProof(env, key, target)},${await dpopProof(env, key, target)}`,
    }),
    "a value and nothing": async ({ target }) => ({ proof: `${await dpopProof(env, key, target)},` }),
  });
  for (const endpoint of await oauthEndpoints(env)) {
    await t.step(`${endpoint.name}: two header fields`, async () => {
      await endpoint.ready();
      const request = await endpoint.request({ key });
      request.headers.append("DPoP", await dpopProof(env, key, endpoint.target));
      await assertRejected(env, REJECTED, () => env.api(request, env.tpp));
    });
  }
});

Deno.test("POST token, par reject what is not one compact JWS [DP-N3]", async (t) => {
  await using env = await openEnvironment();
  const respelled = (change: (proof: string) => string): Case => async ({ target }) => ({
    proof: change(await dpopProof(env, await dpopKey(), target)),
  });
  await rejectedEverywhere(t, env, REJECTED, {
    "empty": respelled(() => ""),
    "no JWT": respelled(() => "proof"),
    "two segments": respelled((proof) => proof.split(".").slice(0, 2).join(".")),
    "four segments": respelled((proof) => `${proof}.x`),
    "empty signature": respelled((proof) => proof.slice(0, proof.lastIndexOf(".") + 1)),
    "empty payload": respelled((proof) => proof.replace(/\..*\./, "..")),
    "JSON serialisation": respelled((proof) => {
      const [header, payload, signature] = proof.split(".");
      return JSON.stringify({ protected: header, payload, signature });
    }),
    "padding": respelled((proof) => `${proof}==`),
    "stray bits": respelled((proof) =>
      proof.split(".").with(2, strayBits(proof.split(".")[2] ?? "")).join(".")
    ),
    "space inside": respelled((proof) => proof.replace(".", ". ")),
    "an authentication scheme": respelled((proof) => `DPoP ${proof}`),
    "9 kB": ({ target }) => made(env, target, {}, { padding: "x".repeat(6200) }),
    "claims that are no object": async ({ target }) => ({
      proof: await rawJws(await (await dpopKey()).privateKey("sign"), await header(), [
        claims(env, target),
      ]),
    }),
  });
});

Deno.test("POST token, par reject a proof of another type [DP-N4] [DP3]", async (t) => {
  await using env = await openEnvironment();
  const typed = (typ: unknown): Case => ({ target }) => made(env, target, { typ });
  await rejectedEverywhere(t, env, REJECTED, {
    "missing": typed(undefined),
    "JWT": typed("JWT"),
    "dpop+jwt+wrongyousee": typed("dpop+jwt+wrongyousee"),
    "dpop": typed("dpop"),
    "client-authentication+jwt": typed("client-authentication+jwt"),
    "number": typed(1),
    "array": typed(["dpop+jwt"]),
  });
  await acceptedEverywhere(t, env, {
    "upper case": typed("DPoP+JWT"),
    "application/dpop+jwt": typed("application/dpop+jwt"),
  });
});

Deno.test("POST token, par reject a proof by another algorithm [DP-N5] [DP4]", async (t) => {
  await using env = await openEnvironment();
  const { privateJwk, publicJwk } = await dpopKey();
  const pkcs1 = await importPrivate(privateJwk, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, "sign");
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const hmac = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const ec = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", ec.publicKey);
  const by = (
    changes: JsonObject,
    sign: (input: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>,
  ): Case =>
  async ({ target }) => {
    const input = `${segment(withChanges(await header(), changes))}.${segment(claims(env, target))}`;
    return { proof: `${input}.${segment(new Uint8Array(await sign(bytesOf(input))))}` };
  };
  const es256 = (input: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> =>
    crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, ec.privateKey, input);
  await rejectedEverywhere(t, env, REJECTED, {
    "alg missing": ({ target }) => made(env, target, { alg: undefined }),
    "alg none, signature kept": ({ target }) => made(env, target, { alg: "none" }),
    "alg none, unsigned": by({ alg: "none" }, () => Promise.resolve(new ArrayBuffer(0))),
    "alg ps256": ({ target }) => made(env, target, { alg: "ps256" }),
    "RS256": by({ alg: "RS256" }, (input) => crypto.subtle.sign("RSASSA-PKCS1-v1_5", pkcs1, input)),
    "RS256 that says PS256": by({}, (input) => crypto.subtle.sign("RSASSA-PKCS1-v1_5", pkcs1, input)),
    "HS256": by(
      { alg: "HS256", jwk: { kty: "oct", k: segment(secret) } },
      (input) => crypto.subtle.sign("HMAC", hmac, input),
    ),
    "HS256 with the RSA key": by({ alg: "HS256" }, (input) => crypto.subtle.sign("HMAC", hmac, input)),
    "ES256 with its key": by({ alg: "ES256", jwk: { kty, crv, x, y } }, es256),
    "ES256 that says PS256": by({ jwk: { kty, crv, x, y } }, es256),
    "PS256 with an EC key's type": ({ target }) => made(env, target, { jwk: { ...publicJwk, kty: "EC" } }),
  });
});

Deno.test("POST token, par reject a key that is not a sound public RSA key [DP-N6, DP5, DP6]", async (t) => {
  await using env = await openEnvironment();
  const key = await dpopKey();
  const { publicJwk, privateJwk } = key;
  const { d, p, q, dp, dq, qi } = privateJwk;
  const n = Uint8Array.fromBase64(publicJwk.n, { alphabet: "base64url" });
  const keyed = (jwk: unknown, by?: TestKey): Case => ({ target }) => made(env, target, { jwk }, {}, by);
  const small = await smallTestKey();
  await rejectedEverywhere(t, env, REJECTED, {
    "missing": keyed(undefined),
    "private": keyed(privateJwk),
    "with d": keyed({ ...publicJwk, d }),
    "with p and q only": keyed({ ...publicJwk, p, q }),
    "with dp, dq, qi only": keyed({ ...publicJwk, dp, dq, qi }),
    "with oth": keyed({ ...publicJwk, oth: [] }),
    "with k": keyed({ ...publicJwk, k: "AAAA" }),
    "oct": keyed({ kty: "oct", k: segment("secret") }),
    "text": keyed(JSON.stringify(publicJwk)),
    "null": keyed(null),
    "array": keyed([publicJwk]),
    "empty": keyed({}),
    "kty missing": keyed({ n: publicJwk.n, e: publicJwk.e }),
    "kty rsa": keyed({ ...publicJwk, kty: "rsa" }),
    "n missing": keyed({ kty: "RSA", e: publicJwk.e }),
    "n number": keyed({ ...publicJwk, n: 7 }),
    "e missing": keyed({ kty: "RSA", n: publicJwk.n }),
    "1024 bits": keyed(small.publicJwk, small),
    "2040 bits": keyed({ ...publicJwk, n: segment(n.slice(0, 255)) }),
    "4104 bits": keyed({ ...publicJwk, n: segment(new Uint8Array(513).fill(0xff)) }),
    "e = 1": keyed({ ...publicJwk, e: "AQ" }),
    "e = 3": keyed({ ...publicJwk, e: "Aw" }),
    "e with a leading zero": keyed({ ...publicJwk, e: "AAEAAQ" }),
    "n with a leading zero": keyed({ ...publicJwk, n: segment(new Uint8Array([0, ...n])) }),
    "n with stray bits": keyed({ ...publicJwk, n: strayBits(publicJwk.n) }),
    "n padded": keyed({ ...publicJwk, n: `${publicJwk.n}==` }),
  });
});

Deno.test("POST token, par reject a proof that its key did not sign [DP-N7]", async (t) => {
  await using env = await openEnvironment();
  const key = await dpopKey();
  const spoilt = (index: number): Case => async ({ target }) => {
    const parts = (await dpopProof(env, key, target)).split(".");
    const part = parts[index] ?? "";
    return { proof: parts.with(index, (part.startsWith("f") ? "g" : "f") + part.slice(1)).join(".") };
  };
  await rejectedEverywhere(t, env, REJECTED, {
    "signature altered": spoilt(2),
    "signature of another proof": async ({ target }) => {
      const [one, other] = [await dpopProof(env, key, target), await dpopProof(env, key, target)];
      return { proof: one.slice(0, one.lastIndexOf(".")) + other.slice(other.lastIndexOf(".")) };
    },
    "claims altered": async ({ target }) => {
      const [first, , last] = (await dpopProof(env, key, target)).split(".");
      return { proof: `${first}.${segment(claims(env, target))}.${last}` };
    },
    "signed by another key than jwk": async ({ target }) => made(env, target, {}, {}, await testKey(10)),
    "signed by the client's signing key": ({ target }) => made(env, target, {}, {}, env.tpp.signing.key),
    "salt of 20 bytes": async ({ target }) => {
      const input = `${segment(await header())}.${segment(claims(env, target))}`;
      return { proof: `${input}.${await ps256(await key.privateKey("sign"), input, 20)}` };
    },
    "header members b64 and crit": ({ target }) => made(env, target, { b64: false, crit: ["b64"] }),
  });
});

Deno.test("POST token, par accept sound proofs of every kind [DP2, DP7, DP14]", async (t) => {
  await using env = await openEnvironment();
  const key = await dpopKey();
  const large = await largeTestKey();
  await acceptedEverywhere(t, env, {
    "3072 bits": () => ({ key: large }),
    "unknown members": ({ target }) => made(env, target, { tx_id: "1" }, { tx_id: "1", aud: "anyone" }),
    "kid of the client's signing key": ({ target }) => made(env, target, { kid: env.tpp.signing.kid }),
    "jwk with more public members": ({ target }) =>
      made(env, target, { jwk: { ...key.publicJwk, kid: "k", use: "sig", alg: "PS256", x5t: "t" } }),
    "header field in upper case": async ({ target }) => ({
      proof: null,
      headers: { DPOP: await dpopProof(env, key, target) },
    }),
  });
});

Deno.test("POST token binds to the same key however its JWK is ordered [DP13, FM5]", async () => {
  await using env = await openEnvironment();
  const key = await dpopKey();
  const token = clientCredentials(env);
  const { kty, n, e } = key.publicJwk;
  for (const jwk of [{ kty, n, e }, { e, n, kty }, { use: "sig", n, kty, e }]) {
    await assertAccepted(token, await token.send(await made(env, token.target, { jwk })));
  }
  const tokens = await env.store.list<{ jkt: string }>({ prefix: ["access_token"], limit: 10 });
  assertEquals(tokens.length, 3);
  assertEquals(new Set(tokens.map(({ value }) => value.jkt)).size, 1);
});

async function header(): Promise<JsonObject> {
  return { typ: "dpop+jwt", alg: "PS256", jwk: (await dpopKey()).publicJwk };
}

function claims(env: Environment, { method, url }: OAuthEndpoint["target"]): JsonObject {
  return { htm: method, htu: url, iat: seconds(env), jti: crypto.randomUUID() };
}

/** A proof with changed members, written byte by byte and signed with PS256 by the key or another. */
async function made(
  env: Environment,
  target: OAuthEndpoint["target"],
  headerChanges: JsonObject,
  claimChanges: JsonObject = {},
  by?: TestKey,
): Promise<{ readonly proof: string }> {
  const signer = await (by ?? await dpopKey()).privateKey("sign");
  const payload: Part = withChanges(claims(env, target), claimChanges);
  return { proof: await rawJws(signer, withChanges(await header(), headerChanges), payload) };
}
