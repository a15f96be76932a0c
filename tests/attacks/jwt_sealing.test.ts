/** Layers: what is wrapped, unwrapped, wrapped twice or wrapped wrongly, above all at the bank's return (checklist 12). */
import { assert, assertEquals } from "@std/assert";
import {
  assertNotAuthentic,
  IMPLICIT,
  platformEncryptionKey,
  returnTo,
  sealedReturn,
  sealedUnderHeader,
  signedReturn,
} from "../../scripts/testing/bank_return.ts";
import { costOf, FREE } from "../support/crypto_meter.ts";
import { type AtBank, Browser, returnClaims, returnPath, toBank } from "../../scripts/testing/flows.ts";
import { assertCodeAnswer, assertPage } from "../../scripts/testing/front_channel.ts";
import { type Attack, forged, refusedEverywhere, takenEverywhere } from "../support/jwt_attacks.ts";
import { jwtPlaces } from "../support/jwt_places.ts";
import { type JsonObject, sealToPlatform, signBytes, signJwt } from "../../scripts/testing/jwts.ts";
import { openWorld, type World } from "../../scripts/testing/environment.ts";
import { rawJwe, segment } from "../../scripts/testing/raw_jws.ts";

/** Sealed tokens, each refused with the one page of all that is not authentic; then the good one is taken. */
async function notAuthentic(
  t: Deno.TestContext,
  tokens: Readonly<Record<string, (world: World, flow: AtBank) => Promise<string>>>,
  judge: (act: () => Promise<void>) => Promise<void> = (act) => act(),
): Promise<void> {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  for (const [name, make] of Object.entries(tokens)) {
    await t.step(name, async () => {
      const path = returnTo("BANKA", await make(world, flow));
      await judge(() => assertNotAuthentic(world, flow.browser, path));
    });
  }
  await t.step("and nothing else was wrong with it", async () => {
    await assertCodeAnswer(await flow.browser.open(await returnPath(world, world.bankA, flow.handover)));
  });
}

/** The act opens no envelope and checks no signature. */
async function unopened(act: () => Promise<void>): Promise<void> {
  assertEquals((await costOf(act)).cost, FREE);
}

Deno.test("a hand-over is claims in a JWS in a JWE, and nothing in fewer or more layers [J19]", async (t) => {
  const sealed = (make: (world: World, flow: AtBank) => string | Promise<string>) =>
  async (
    world: World,
    flow: AtBank,
  ): Promise<string> => await sealToPlatform(world, await make(world, flow));
  const again = (world: World, token: string): Promise<string> => sealToPlatform(world, token);
  const claims = (world: World, flow: AtBank): JsonObject => returnClaims(world, world.bankA, flow.handover);
  const around = (make: (world: World, flow: AtBank) => Promise<string>, cty?: string) =>
    sealed(async (world, flow) => {
      const { key, kid } = world.bankA.signing;
      const payload = new TextEncoder().encode(await make(world, flow));
      return await signBytes(key, payload, { typ: "JWT", kid, ...(cty === undefined ? {} : { cty }) });
    });
  const inner = (world: World, flow: AtBank): Promise<string> => signedReturn(world, flow);
  const envelope = async (world: World, flow: AtBank): Promise<string> =>
    again(world, await inner(world, flow));
  const cty = (value: unknown) => async (world: World, flow: AtBank): Promise<string> =>
    sealedUnderHeader(world, await inner(world, flow), { cty: value });
  await notAuthentic(t, {
    "bare claims": sealed((world, flow) => JSON.stringify(claims(world, flow))),
    "an unsigned JWS": sealed((world, flow) =>
      `${segment({ alg: "none" })}.${segment(claims(world, flow))}.`
    ),
    "a JWS without its signature": sealed(async (world, flow) =>
      (await inner(world, flow)).replace(/[^.]+$/, "")
    ),
    "a JWE in a JWE": sealed(envelope),
    "a JWE in a JWE in a JWE": sealed(async (world, flow) => again(world, await envelope(world, flow))),
    "a JWS around a JWE": around(envelope, "JWT"),
    "a JWS around a JWE, unnamed": around(envelope),
    "a JWS around the JWS": around(inner, "JWT"),
    "the JWS twice": sealed(async (world, flow) =>
      `${await inner(world, flow)}\n${await inner(world, flow)}`
    ),
    "the JWS and a line end": sealed(async (world, flow) => `${await inner(world, flow)}\n`),
    "the JWS as a JSON text": sealed(async (world, flow) => JSON.stringify(await inner(world, flow))),
    "an access token": sealed((_, flow) => flow.bound.token),
    "cty application/jwt": cty("application/jwt"),
    "cty JSON": cty("json"),
    "cty empty": cty(""),
    "cty null": cty(null),
    "cty a list": cty(["JWT"]),
  });
});

Deno.test("the envelope's cty may be JWT, jwt or absent [J19]", async (t) => {
  await using world = await openWorld();
  for (const cty of ["JWT", "jwt", undefined]) {
    await t.step(String(cty), async () => {
      const flow = await toBank(world, { body: IMPLICIT });
      const sealed = await sealToPlatform(world, await signedReturn(world, flow), { cty });
      await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
    });
  }
});

Deno.test("a JWE is no JWS and a JWS is no JWE, at every place [J20] [J21] [J25]", async (t) => {
  await using world = await openWorld();
  const places = await jwtPlaces(world);
  const relabelled = (name: string, header: JsonObject): Attack => ({
    name,
    forge: async (good) =>
      [segment(header), ...(await sealToPlatform(world, await forged(good))).split(".").slice(1)].join("."),
  });
  await refusedEverywhere(t, world, places, [
    { name: "the good token in a JWE", forge: async (good) => sealToPlatform(world, await forged(good)) },
    {
      name: "a JWE of the good claims",
      forge: (good) => sealToPlatform(world, JSON.stringify(good.payload)),
    },
    relabelled("a JWE by a password with 2^31-1 rounds", { ...PASSWORD, p2c: 2 ** 31 - 1 }),
    relabelled("a JWE by agreement on an invalid point", { alg: "ECDH-ES", enc: "A256GCM", epk: OFF_CURVE }),
    relabelled("a JWE whose header names PS256", { alg: "PS256", typ: "JWT", enc: "A256GCM" }),
  ]);
  await t.step("a bare JWS at the bank's return", async () => {
    const flow = await toBank(world, { body: IMPLICIT });
    const bare = await signedReturn(world, flow);
    await unopened(() => assertNotAuthentic(world, flow.browser, returnTo("BANKA", bare)));
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

Deno.test("password-based encryption is refused at once, however many rounds it asks for [J21]", async (t) => {
  const asking = (header: JsonObject) => async (world: World, flow: AtBank): Promise<string> =>
    sealedUnderHeader(world, await signedReturn(world, flow), header);
  await notAuthentic(t, {
    "2^31-1 rounds": asking({ ...PASSWORD, p2c: 2 ** 31 - 1 }),
    "one round": asking({ ...PASSWORD, p2c: 1 }),
    "PBES2-HS256+A128KW": asking({ ...PASSWORD, alg: "PBES2-HS256+A128KW", p2c: 1000 }),
    "p2c beside the good algorithm": asking({ p2c: 2 ** 31 - 1 }),
    "p2s beside the good algorithm": asking({ p2s: "AAAA" }),
  }, unopened);
});

Deno.test("nothing compressed is opened, small or a bomb [J22]", async (t) => {
  const deflated =
    (bytes: Uint8Array<ArrayBuffer>, zip: unknown = "DEF") => async (world: World): Promise<string> => {
      const { kid, key } = await platformEncryptionKey(world);
      const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
      const plaintext = new Uint8Array(await new Response(stream).arrayBuffer());
      const header = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid, zip };
      const token = await rawJwe({ header, plaintext, to: key });
      if (bytes.length < 6_000_000) {
        assert(token.length <= 8192, `${token.length}: refused for its length alone`);
      }
      return token;
    };
  const good = async (world: World, flow: AtBank): Promise<Uint8Array<ArrayBuffer>> =>
    new TextEncoder().encode(await signedReturn(world, flow));
  await notAuthentic(t, {
    "the good token, deflated": async (world, flow) => deflated(await good(world, flow))(world),
    "5 MB of zeros in 8 kB": deflated(new Uint8Array(5_000_000)),
    "60 MB of zeros": deflated(new Uint8Array(60_000_000)),
    "zip of another name": async (world, flow) => deflated(await good(world, flow), "GZIP")(world),
    "zip null": async (world, flow) =>
      sealedUnderHeader(world, await signedReturn(world, flow), { zip: null }),
    "zip DEF around what is not deflated": async (world, flow) =>
      sealedUnderHeader(world, await signedReturn(world, flow), { zip: "DEF" }),
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
];

Deno.test("no other key management or content encryption opens anything [J23]", async (t) => {
  const under = (header: JsonObject) => async (world: World, flow: AtBank): Promise<string> =>
    sealedUnderHeader(world, await signedReturn(world, flow), header);
  const algorithms = [...OTHER_ALGORITHMS, "", null, ["RSA-OAEP-256"], undefined].map((alg) =>
    [`alg ${JSON.stringify(alg)}`, under({ alg })] as const
  );
  const encryptions = ["A128GCM", "A192GCM", "A128CBC-HS256", "A256CBC-HS512", "a256gcm", "", null, undefined]
    .map((
      enc,
    ) => [`enc ${JSON.stringify(enc)}`, under({ enc })] as const);
  await notAuthentic(t, {
    ...Object.fromEntries([...algorithms, ...encryptions]),
    "RSA-OAEP, really": async (world, flow) => {
      const { kid, key } = await platformEncryptionKey(world);
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
      return await rawJwe({ header, plaintext: await signedReturn(world, flow), to });
    },
    "dir, without an encrypted key": async (world, flow) => {
      const parts = (await under({ alg: "dir" })(world, flow)).split(".");
      return parts.with(1, "").join(".");
    },
    "to another kid": under({ kid: "another" }),
    "to no kid": under({ kid: undefined }),
    "to a kid of Object.prototype": under({ kid: "__proto__" }),
    ...Object.fromEntries(
      ["jwk", "jku", "x5u", "x5c", "crit", "epk", "apu", "b64", "iss"].map((
        name,
      ) => [`with ${name}`, under({ [name]: "x" })]),
    ),
  }, unopened);
});

Deno.test("agreement on a point off the curve, or on any, is not supported [J25]", async (t) => {
  const under = (header: JsonObject) => async (world: World, flow: AtBank): Promise<string> =>
    sealedUnderHeader(world, await signedReturn(world, flow), header);
  const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
  await notAuthentic(t, {
    "a point off the curve": under({ alg: "ECDH-ES", epk: OFF_CURVE }),
    "a point off the curve, with key wrapping": under({ alg: "ECDH-ES+A128KW", epk: OFF_CURVE }),
    "a good point": under({ alg: "ECDH-ES", epk: await crypto.subtle.exportKey("jwk", pair.publicKey) }),
    "a point beside the good algorithm": under({ epk: OFF_CURVE }),
  }, unopened);
});

Deno.test("another bank's answer is no answer, whoever wraps it anew [J29]", async (t) => {
  await using world = await openWorld();
  const atA = await toBank(world, { body: IMPLICIT });
  const atB = await toBank(world, { bank: world.bankB, body: IMPLICIT });
  const byA = (claims: JsonObject): Promise<string> => signJwt(world.bankA.signing, claims);
  const forB = returnClaims(world, world.bankB, atB.handover);
  const wrapped: Readonly<Record<string, () => Promise<string>>> = {
    "bank A's own answer, at bank B": () => signedReturn(world, atA),
    "an answer for bank B's flow, signed by bank A": () => byA(forB),
    "an answer for bank B's flow in bank A's name": () => byA({ ...forB, iss: "BANKA", bank_id: "BANKA" }),
    "an answer for bank B's flow under bank B's kid": () =>
      signJwt({ key: world.bankA.signing.key, kid: world.bankB.signing.kid }, forB),
  };
  for (const [name, make] of Object.entries(wrapped)) {
    await t.step(name, async () => {
      await assertNotAuthentic(world, atB.browser, await sealedReturn(world, "BANKB", await make()));
    });
  }
  await t.step("bank A's own answer, wrapped anew in another browser", async () => {
    const stranger = new Browser(world);
    const path = await sealedReturn(world, "BANKA", await signedReturn(world, atA));
    const before = await world.snapshot();
    await assertPage(await stranger.open(path), 400, "other_browser");
    assertEquals(await world.snapshot(), before);
  });
  await t.step("and both banks' own answers are taken", async () => {
    for (const flow of [atA, atB]) {
      const path = await returnPath(world, flow.bank, flow.handover);
      await assertCodeAnswer(await flow.browser.open(path), flow.bank.orgId);
    }
  });
});
