/**
 * Nested JWTs: JWS and JWE layers that are missing, doubled or wrong, above all at the bank's return (contract J1 to
 * J38).
 */
import { assert, assertEquals } from "@std/assert";
import {
  assertNotAuthentic,
  IMPLICIT,
  platformEncryptionKey,
  returnTo,
  sealedUnderHeader,
  signedReturn,
} from "testing/bank_return.ts";
import { CompactEncrypt } from "jose";
import { costOf, FREE } from "support/crypto_meter.ts";
import { type AtBank, returnClaims, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer } from "testing/front_channel.ts";
import { type Attack, forged, rejectedEverywhere, takenEverywhere } from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { type JsonObject, sealToPlatform, signBytes, signJwt, thumbprint } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { rawJwe, segment } from "testing/raw_jws.ts";
import { steps } from "support/steps.ts";

/** Encrypted tokens, each rejected with the page for unauthentic returns. Then the valid one is accepted. */
async function notAuthentic(
  t: Deno.TestContext,
  tokens: Readonly<Record<string, (env: Environment, flow: AtBank) => Promise<string>>>,
  judge: (act: () => Promise<void>) => Promise<void> = (act) => act(),
): Promise<void> {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const fetched = [...env.fetched];
  await steps(t, tokens, async (make) => {
    const path = returnTo("BANKA", await make(env, flow));
    await judge(() => assertNotAuthentic(env, flow.browser, path));
  });
  assertEquals(env.fetched, fetched);
  await t.step("and nothing else was wrong with it", async () => {
    await assertCodeAnswer(await flow.browser.open(await returnPath(env, env.bankA, flow.handover)));
  });
}

/** Asserts that the act decrypts no JWE and verifies no signature. */
async function unopened(act: () => Promise<void>): Promise<void> {
  assertEquals((await costOf(act)).cost, FREE);
}

Deno.test("a handover JWT is claims in a JWS in a JWE, and nothing in fewer or more layers [J19] [BR-N4] [BR-N16] [BR3]", async (t) => {
  const sealed =
    (make: (env: Environment, flow: AtBank) => string | Promise<string>) =>
    async (env: Environment, flow: AtBank): Promise<string> =>
      await sealToPlatform(env, await make(env, flow));
  const again = (env: Environment, token: string): Promise<string> => sealToPlatform(env, token);
  const claims = (env: Environment, flow: AtBank): JsonObject => returnClaims(env, env.bankA, flow.handover);
  const around = (make: (env: Environment, flow: AtBank) => Promise<string>, cty?: string) =>
    sealed(async (env, flow) => {
      const { key, kid } = env.bankA.signing;
      const payload = new TextEncoder().encode(await make(env, flow));
      return await signBytes(key, payload, { typ: "JWT", kid, ...(cty === undefined ? {} : { cty }) });
    });
  const inner = (env: Environment, flow: AtBank): Promise<string> => signedReturn(env, flow);
  const envelope = async (env: Environment, flow: AtBank): Promise<string> =>
    again(env, await inner(env, flow));
  const cty = (value: unknown) => async (env: Environment, flow: AtBank): Promise<string> =>
    sealedUnderHeader(env, await inner(env, flow), { cty: value });
  await notAuthentic(t, {
    "bare claims": sealed((env, flow) => JSON.stringify(claims(env, flow))),
    "an unsigned JWS": sealed((env, flow) => `${segment({ alg: "none" })}.${segment(claims(env, flow))}.`),
    "a JWS without its signature": sealed(async (env, flow) =>
      (await inner(env, flow)).replace(/[^.]+$/, "")
    ),
    "a JWE in a JWE": sealed(envelope),
    "a JWE in a JWE in a JWE": sealed(async (env, flow) => again(env, await envelope(env, flow))),
    "a JWS around a JWE": around(envelope, "JWT"),
    "a JWS around a JWE, unnamed": around(envelope),
    "a JWS around the JWS": around(inner, "JWT"),
    "the JWS twice": sealed(async (env, flow) => `${await inner(env, flow)}\n${await inner(env, flow)}`),
    "the JWS and a line end": sealed(async (env, flow) => `${await inner(env, flow)}\n`),
    "the JWS as a JSON text": sealed(async (env, flow) => JSON.stringify(await inner(env, flow))),
    "the JWS behind a byte order mark": sealed(async (env, flow) => `\ufeff${await inner(env, flow)}`),
    "the JWS, padded": sealed(async (env, flow) => `${await inner(env, flow)}==`),
    "the JWS without its payload": sealed(async (env, flow) =>
      (await inner(env, flow)).replace(/\..*\./, "..")
    ),
    "nothing": sealed(() => ""),
    "the platform's own claims, signed by the bank": sealed((env, flow) =>
      signJwt(env.bankA.signing, flow.handover)
    ),
    "an access token": sealed((_, flow) => flow.bound.token),
    "cty application/jwt": cty("application/jwt"),
    "cty JSON": cty("json"),
    "cty application/json": cty("application/json"),
    "cty a number": cty(1),
    "cty empty": cty(""),
    "cty null": cty(null),
    "cty a list": cty(["JWT"]),
  });
});

Deno.test("the envelope's cty may be JWT, jwt or absent [J19] [BR2]", async (t) => {
  await using env = await openEnvironment();
  for (const cty of ["JWT", "jwt", undefined]) {
    await t.step(String(cty), async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      const sealed = await sealToPlatform(env, await signedReturn(env, flow), { cty });
      await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
    });
  }
});

Deno.test("a JWE is no JWS and a JWS is no JWE, at every place [J20] [J21] [J25]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const relabelled = (name: string, header: JsonObject): Attack => ({
    name,
    forge: async (good) =>
      [segment(header), ...(await sealToPlatform(env, await forged(good))).split(".").slice(1)].join("."),
  });
  await rejectedEverywhere(t, env, places, [
    { name: "the good token in a JWE", forge: async (good) => sealToPlatform(env, await forged(good)) },
    { name: "a JWE of the good claims", forge: (good) => sealToPlatform(env, JSON.stringify(good.payload)) },
    relabelled("a JWE by a password with 2^31-1 rounds", { ...PASSWORD, p2c: 2 ** 31 - 1 }),
    relabelled("a JWE by agreement on an invalid point", { alg: "ECDH-ES", enc: "A256GCM", epk: OFF_CURVE }),
    relabelled("a JWE whose header names PS256", { alg: "PS256", typ: "JWT", enc: "A256GCM" }),
  ]);
  await t.step("a bare JWS at the bank's return", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    const bare = await signedReturn(env, flow);
    await unopened(() => assertNotAuthentic(env, flow.browser, returnTo("BANKA", bare)));
  });
  await takenEverywhere(t, places);
});

const PASSWORD = { alg: "PBES2-HS512+A256KW", enc: "A256GCM", p2s: "AAAAAAAAAAAAAAAAAAAAAA" };
const OFF_CURVE = {
  kty: "EC",
  crv: "P-256",
  x: segment(new Uint8Array(32).fill(1)),
  y: segment(new Uint8Array(32).fill(2)),
};

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
