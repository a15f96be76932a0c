import {
  type Attack,
  attack,
  forged,
  type Forgery,
  header,
  INVALID,
  pss,
  rejectedEverywhere,
  type Sign,
  text,
  wrong,
} from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { smallTestKey, testKey } from "testing/keys.ts";
import { openEnvironment } from "testing/environment.ts";
import { importPrivate } from "testing/raw_jws.ts";

const ALG = wrong("alg");

Deno.test("no JWT by another algorithm with the right key is taken anywhere [J3] [FAPI-D20] [CA-N5] [DP-N5] [DP4] [JWS-05] [RP-N5] [DC-N6] [BR-N5]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const ec = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
  const ecJwk = await crypto.subtle.exportKey("jwk", ec.publicKey);
  const es256: Sign = (input) => crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, ec.privateKey, input);
  const rsa = (alg: string, name: string, hash: string, saltLength: number, says = alg): Attack => ({
    name: `${alg}${says === alg ? "" : `, which says ${says}`}`,
    forge: async (good) => {
      const key = await importPrivate(good.key.privateJwk, { name, hash });
      const sign: Sign = (input) => crypto.subtle.sign({ name, saltLength }, key, input);
      return await forged(good, { header: { alg: says }, sign });
    },
    fault: says === "PS256" ? INVALID : ALG,
  });
  await rejectedEverywhere(t, env, places, [
    rsa("RS256", "RSASSA-PKCS1-v1_5", "SHA-256", 0),
    rsa("RS256", "RSASSA-PKCS1-v1_5", "SHA-256", 0, "PS256"),
    rsa("RS512", "RSASSA-PKCS1-v1_5", "SHA-512", 0),
    rsa("PS384", "RSA-PSS", "SHA-384", 48),
    rsa("PS384", "RSA-PSS", "SHA-384", 48, "PS256"),
    rsa("PS512", "RSA-PSS", "SHA-512", 64),
    rsa("RS1", "RSASSA-PKCS1-v1_5", "SHA-1", 0, "PS256"),
    attack("ES256 by an EC key", { header: { alg: "ES256" }, sign: es256 }, ALG),
    attack("ES256, which says PS256", { sign: es256 }, INVALID),
    {
      name: "ES256 with its EC key in the header",
      forge: (good) => forged(good, { header: { alg: "ES256", jwk: ecJwk }, sign: es256 }),
      fault: ALG,
    },
    {
      name: "ES256 with its EC key in the header, which says PS256",
      forge: (good) => forged(good, { header: { jwk: ecJwk }, sign: es256 }),
      fault: wrong("jwk"),
    },
    ...["EdDSA", "Ed25519", "RSA-OAEP-256", "dir"].map((alg) => header(`alg ${alg}`, { alg }, ALG)),
  ]);
});

Deno.test("no PSS signature with another salt than the hash is long is taken anywhere [J4] [CA-N5]", async (t) => {
  await using env = await openEnvironment();
  await rejectedEverywhere(
    t,
    env,
    await jwtPlaces(env),
    [0, 20, 31, 33, 64, 222].map((salt): Attack => ({
      name: `salt of ${salt} octets`,
      forge: (good) => forged(good, { sign: pss(good.key, salt) }),
      fault: INVALID,
    })),
  );
});

Deno.test("no signature by a key of 1024 bits is taken anywhere, under an honest kid or in the header [J5] [DP-N7]", async (t) => {
  await using env = await openEnvironment();
  const small = await smallTestKey();
  const outsider = await testKey(15);
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    attack("by a key of 1024 bits", { sign: pss(small) }, INVALID),
    {
      name: "by a key of 1024 bits that the header shows",
      forge: (good) => forged(good, { header: { jwk: small.publicJwk }, sign: pss(small) }),
      fault: wrong("jwk"),
    },
    attack("by somebody else's key", { sign: pss(outsider) }, INVALID),
  ]);
});

Deno.test("no JWT that was altered after it was signed is taken anywhere [DP-N7] [DC-N1] [DC2] [DC-N8] [BR-N5]", async (t) => {
  await using env = await openEnvironment();
  const spliced = (name: string, index: number, from: Forgery): Attack => ({
    name,
    forge: async (good) => {
      const [signed, other] = [await forged(good), await forged(good, from)];
      return signed.split(".").with(index, other.split(".")[index] ?? "").join(".");
    },
    fault: INVALID,
  });
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    spliced("the signature of another token", 2, { header: { iat: 1 }, claims: { jti: "another" } }),
    { ...spliced("other claims", 1, { claims: { jti: "another" } }), notAt: ["signature"] },
    { ...spliced("another header", 0, { header: { x: 1 } }), fault: wrong("x") },
    text(
      "the last octets of the signature",
      (token) => `${token.slice(0, -8)}${other(token.slice(-8))}`,
      INVALID,
    ),
    text("a signature cut short", (token) => token.slice(0, -2), INVALID),
    text("a signature made longer", (token) => `${token}AAAA`, INVALID),
  ]);
});

function other(text: string): string {
  return text === "AAAAAAAA" ? "BAAAAAAA" : "AAAAAAAA";
}
