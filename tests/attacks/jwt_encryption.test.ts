import { assert } from "@std/assert";
import { sealedUnderHeader, signedReturn } from "testing/bank_return.ts";
import { CompactEncrypt } from "jose";
import type { AtBank } from "testing/authorization_flow.ts";
import { type JsonObject, platformEncryptionKey, thumbprint } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import type { Environment } from "testing/environment.ts";
import { rawJwe } from "testing/raw_jws.ts";
import { notAuthentic, OFF_CURVE, PASSWORD, unopened } from "./unopened.ts";

Deno.test("password-based encryption is rejected at once, however many rounds it asks for [J21] [BR-N2]", async (t) => {
  const asking = (header: JsonObject) => async (env: Environment, flow: AtBank): Promise<string> =>
    sealedUnderHeader(env, await signedReturn(env, flow), header);
  await notAuthentic(t, {
    "2^31-1 rounds": asking({ ...PASSWORD, p2c: 2 ** 31 - 1 }),
    "one round": asking({ ...PASSWORD, p2c: 1 }),
    "PBES2-HS256+A128KW": asking({ ...PASSWORD, alg: "PBES2-HS256+A128KW", p2c: 1000 }),
    "p2c beside the good algorithm": asking({ p2c: 2 ** 31 - 1 }),
    "p2s beside the good algorithm": asking({ p2s: "AAAA" }),
  }, unopened);
});

Deno.test("nothing compressed is opened, small or a bomb [J22] [BR-N3]", async (t) => {
  const deflated =
    (bytes: Uint8Array<ArrayBuffer>, zip: unknown = "DEF") => async (env: Environment): Promise<string> => {
      const { kid, key } = await platformEncryptionKey(env);
      const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
      const plaintext = new Uint8Array(await new Response(stream).arrayBuffer());
      const header = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid, zip };
      const token = await rawJwe({ header, plaintext, to: key });
      if (bytes.length < 6_000_000) {
        assert(token.length <= 8192, `${token.length}: rejected for its length alone`);
      }
      return token;
    };
  const good = async (env: Environment, flow: AtBank): Promise<Uint8Array<ArrayBuffer>> =>
    new TextEncoder().encode(await signedReturn(env, flow));
  await notAuthentic(t, {
    "the good token, deflated": async (env, flow) => deflated(await good(env, flow))(env),
    "5 MB of zeros in 8 kB": deflated(new Uint8Array(5_000_000)),
    "60 MB of zeros": deflated(new Uint8Array(60_000_000)),
    "zip of another name": async (env, flow) => deflated(await good(env, flow), "GZIP")(env),
    "zip null": async (env, flow) => sealedUnderHeader(env, await signedReturn(env, flow), { zip: null }),
    "zip DEF around what is not deflated": async (env, flow) =>
      sealedUnderHeader(env, await signedReturn(env, flow), { zip: "DEF" }),
  }, unopened);
});

const OTHER_ALGORITHMS = [
  "dir",
  "A128KW",
  "A256KW",
  "A256GCMKW",
  "RSA1_5",
  "RSA-OAEP",
  "RSA-OAEP-384",
  "RSA-OAEP-512",
  "ECDH-ES",
  "ECDH-ES+A256KW",
  "none",
  "rsa-oaep-256",
  "PS256",
  "PBES2-HS512+A256KW",
];

Deno.test("no other key management or content encryption opens anything [J23] [BR-N2] [BR2] [A10]", async (t) => {
  const under = (header: JsonObject) => async (env: Environment, flow: AtBank): Promise<string> =>
    sealedUnderHeader(env, await signedReturn(env, flow), header);
  const algorithms = [...OTHER_ALGORITHMS, "", null, ["RSA-OAEP-256"], undefined].map((alg) =>
    [`alg ${JSON.stringify(alg)}`, under({ alg })] as const
  );
  const encryptions = ["A128GCM", "A192GCM", "A128CBC-HS256", "A256CBC-HS512", "a256gcm", "", null, undefined]
    .map((enc) => [`enc ${JSON.stringify(enc)}`, under({ enc })] as const);
  await notAuthentic(t, {
    ...Object.fromEntries([...algorithms, ...encryptions]),
    "RSA-OAEP, really": async (env, flow) => {
      const { kid, key } = await platformEncryptionKey(env);
      const jwk = await crypto.subtle.exportKey("jwk", key);
      const sha1 = { name: "RSA-OAEP", hash: "SHA-1" };
      const to = await crypto.subtle.importKey(
        "jwk",
        { kty: jwk.kty, n: jwk.n, e: jwk.e } as JsonWebKey,
        sha1,
        true,
        ["encrypt"],
      );
      const header = { alg: "RSA-OAEP", enc: "A256GCM", cty: "JWT", kid };
      return await rawJwe({ header, plaintext: await signedReturn(env, flow), to });
    },
    "A128CBC-HS256, really": async (env, flow) => {
      const { kid, key } = await platformEncryptionKey(env);
      const jws = new TextEncoder().encode(await signedReturn(env, flow));
      const header = { alg: "RSA-OAEP-256", enc: "A128CBC-HS256", cty: "JWT", kid };
      return await new CompactEncrypt(jws).setProtectedHeader(header).encrypt(key);
    },
    "a header with alg twice": async (env, flow) => {
      const { kid, key } = await platformEncryptionKey(env);
      const header = `{"alg":"none","alg":"RSA-OAEP-256","enc":"A256GCM","kid":"${kid}"}`;
      return await rawJwe({ header, plaintext: await signedReturn(env, flow), to: key });
    },
    "dir, without an encrypted key": async (env, flow) => {
      const parts = (await under({ alg: "dir" })(env, flow)).split(".");
      return parts.with(1, "").join(".");
    },
    ...Object.fromEntries(
      ["another", undefined, "__proto__", 1, ["platform-enc"], await thumbprint(await testKey(12))]
        .map((kid) => [`to kid ${JSON.stringify(kid)}`, under({ kid })]),
    ),
    "with an empty crit": under({ crit: [] }),
    "with crit and its member": under({ crit: ["exp"], exp: 1 }),
    ...Object.fromEntries(
      ["jwk", "jku", "x5u", "x5c", "crit", "x5t", "epk", "apu", "apv", "b64", "iss"].map((
        name,
      ) => [`with ${name}`, under({ [name]: "x" })]),
    ),
  }, unopened);
});

Deno.test("agreement on a point off the curve, or on any, is not supported [J25]", async (t) => {
  const under = (header: JsonObject) => async (env: Environment, flow: AtBank): Promise<string> =>
    sealedUnderHeader(env, await signedReturn(env, flow), header);
  const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
  await notAuthentic(t, {
    "a point off the curve": under({ alg: "ECDH-ES", epk: OFF_CURVE }),
    "a point off the curve, with key wrapping": under({ alg: "ECDH-ES+A128KW", epk: OFF_CURVE }),
    "a good point": under({ alg: "ECDH-ES", epk: await crypto.subtle.exportKey("jwk", pair.publicKey) }),
    "a point beside the good algorithm": under({ epk: OFF_CURVE }),
  }, unopened);
});
