/**
 * Missing signatures and signatures by another algorithm than PS256, at every place that accepts a JWT (contract J1 to
 * J38).
 */
import {
  type Attack,
  attack,
  forged,
  header,
  INVALID,
  rejectedEverywhere,
  type Sign,
  takenEverywhere,
  text,
  wrong,
} from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import type { JwsParts } from "support/jwt_place.ts";
import { openEnvironment } from "testing/environment.ts";
import { segment } from "testing/raw_jws.ts";

const ALG = wrong("alg");

Deno.test("no JWT without a signature is taken anywhere: alg none in every spelling [J1] [CA-N6] [DP-N5] [DC-N6] [BR-N5]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const unsigned = (alg: unknown, dot = "."): Attack => ({
    name: `alg ${JSON.stringify(alg)}, ${dot === "" ? "two segments" : "no signature"}`,
    forge: async (good) => {
      const [head, payload] = (await forged(good, { header: { alg } })).split(".");
      return `${head}.${payload}${dot}`;
    },
  });
  await rejectedEverywhere(t, env, places, [
    ...["none", "None", "nOnE", "NONE", "PS256", ""].map((alg) => unsigned(alg)),
    unsigned("none", ""),
    ...["none", "None", "nOnE", "NONE", "PS256 ", "ps256", "", null, ["PS256"], 256].map((alg) =>
      header(`alg ${JSON.stringify(alg)}, signed as PS256`, { alg }, ALG)
    ),
    header("alg missing, signed as PS256", { alg: undefined }, ["Signature.MissingClaim", "alg"]),
    {
      name: "alg none, the signature of the good token kept",
      forge: async (good) => {
        const [, payload, signature] = (await forged(good)).split(".");
        return `${segment({ ...good.header, alg: "none" })}.${payload}.${signature}`;
      },
      fault: ALG,
    },
    { name: "a signature of zeros", forge: (good) => forged(good, { sign: zeros }), fault: INVALID },
    text("a signature of one octet", (token) => token.replace(/[^.]+$/, "AA"), INVALID),
  ]);
  await takenEverywhere(t, places);
});

Deno.test("no JWT with a MAC keyed with public material is taken anywhere [J2] [CA-N6] [DP-N5] [DC-N6] [BR-N5]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const secrets: Readonly<Record<string, (good: JwsParts) => Promise<Uint8Array<ArrayBuffer>>>> = {
    "the PEM": async (good) => new TextEncoder().encode(pem(await spki(good))),
    "the PEM, trimmed": async (good) => new TextEncoder().encode(pem(await spki(good)).trim()),
    "the DER": (good) => spki(good),
    "the JWK": ({ key }) => Promise.resolve(new TextEncoder().encode(JSON.stringify(key.publicJwk))),
    "the modulus as text": ({ key }) => Promise.resolve(new TextEncoder().encode(key.publicJwk.n)),
    "the modulus": ({ key }) =>
      Promise.resolve(Uint8Array.fromBase64(key.publicJwk.n, { alphabet: "base64url" })),
  };
  const macs = Object.entries(secrets).flatMap(([what, secret]) =>
    ["HS256", "PS256"].map((alg): Attack => ({
      name: `HMAC with ${what}, alg ${alg}`,
      forge: async (good) => forged(good, { header: { alg }, sign: hmac(await secret(good)) }),
      fault: alg === "PS256" ? INVALID : ALG,
    }))
  );
  const secret = crypto.getRandomValues(new Uint8Array(32));
  await rejectedEverywhere(t, env, places, [
    ...macs,
    attack("HMAC with the key that the header shows", {
      header: { alg: "HS256", jwk: { kty: "oct", k: segment(secret) } },
      sign: hmac(secret),
    }, ALG),
  ]);
});

const zeros: Sign = () => Promise.resolve(new ArrayBuffer(256));

function hmac(secret: Uint8Array<ArrayBuffer>): Sign {
  return async (input) => {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
    return await crypto.subtle.sign("HMAC", key, input);
  };
}

async function spki({ key }: JwsParts): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.exportKey("spki", await key.publicKey("verify")));
}

function pem(der: Uint8Array): string {
  const lines = der.toBase64().match(/.{1,64}/g)?.join("\n");
  return `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n`;
}
