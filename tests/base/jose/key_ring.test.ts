/** `openKeyRing`: the format of `PLATFORM_KEYS`, the published part, and that private values do not leak. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { decryptWith, signClaims, signWith, type Token } from "../../../src/base/jose/own_key.ts";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { openSealed } from "../../../src/base/jose/sealed_jwt.ts";
import { sealClaims } from "support/sealed.ts";
import { smallTestKey, type TestKey, testKey } from "testing/keys.ts";
import { okValue, opened } from "./compact_jws_fixture.ts";

const CERTIFICATE = { x5c: ["MIIB"], "x5t": "thumb-sha1", "x5t#S256": "thumb-sha256" };
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi"];
const keys = await Promise.all([0, 1, 2, 3].map(testKey));

function key(number: number): TestKey {
  const found = keys[number];
  if (found === undefined) throw new Error("no such key");
  return found;
}

function sig(number: number, extra: object = {}): object {
  return { ...key(number).privateJwk, use: "sig", kid: `sig-${number}`, ...CERTIFICATE, ...extra };
}

function enc(number: number, extra: object = {}): object {
  return { ...key(number).privateJwk, use: "enc", kid: `enc-${number}`, ...extra };
}

function jwks(...entries: readonly object[]): string {
  return JSON.stringify({ keys: entries });
}

/** The words with which a key set is rejected. */
async function rejection(json: string): Promise<string> {
  const error = await assertRejects(() => openKeyRing(json), Error);
  return String(error);
}

Deno.test("openKeyRing signs with the first sig key, under its kid", async () => {
  const ring = await openKeyRing(jwks(enc(2), sig(0), sig(1)));
  assertEquals(ring.signer.kid, "sig-0");
  const token = await signClaims({ iss: "platform" }, ring.signer);
  const claims = okValue(await opened(token, await key(0).publicKey("verify")));
  assertEquals(claims, { iss: "platform" });
});

Deno.test("openKeyRing opens with every enc key, in the order given", async () => {
  const ring = await openKeyRing(jwks(sig(0), enc(2), enc(3)));
  assertEquals(ring.decrypters.map(({ kid }) => kid), ["enc-2", "enc-3"]);
  for (const number of [2, 3]) {
    const recipient = { kid: `enc-${number}`, key: await key(number).publicKey("encrypt") };
    const sealed = await sealClaims({ n: number }, ring.signer, recipient);
    assert((await openSealed(sealed, ring.decrypters)).ok);
  }
});

Deno.test("openKeyRing publishes public members alone, with use, alg and certificate [A11]", async () => {
  const { publicJwks } = await openKeyRing(
    jwks(sig(0), enc(2, { alg: "RSA-OAEP-256", ext: true, other: "x" })),
  );
  assertEquals(publicJwks, {
    keys: [
      { ...key(0).publicJwk, kid: "sig-0", use: "sig", alg: "PS256", ...CERTIFICATE },
      { ...key(2).publicJwk, kid: "enc-2", use: "enc", alg: "RSA-OAEP-256" },
    ],
  });
});

Deno.test("openKeyRing keeps no extractable key, and none for a second use", async () => {
  const ring = await openKeyRing(jwks(sig(0), enc(2)));
  const rights = [ring.signer, ...ring.decrypters].map(({ key }) =>
    key instanceof CryptoKey ? [key.extractable, ...key.usages] : undefined
  );
  assertEquals(rights, [[false, "sign"], [false, "decrypt"]]);
});

Deno.test("openKeyRing rejects text that is no private key set, and never quotes it", async () => {
  const publicOnly = { ...key(0).publicJwk, use: "sig", kid: "k", ...CERTIFICATE };
  const cases: [string, string][] = [
    ["no JSON", "not json"],
    ["empty", ""],
    ["no set", "[]"],
    ["no keys", '{"keys":[]}'],
    ["public keys", jwks(publicOnly, enc(2))],
    ["only sig", jwks(sig(0), sig(1))],
    ["only enc", jwks(enc(2), enc(3))],
    ["no use", jwks({ ...sig(0), use: undefined }, enc(2))],
    ["another use", jwks(sig(0, { use: "tls" }), enc(2))],
    ["no kid", jwks(sig(0, { kid: "" }), enc(2))],
    ["no x5c", jwks(sig(0, { x5c: [] }), enc(2))],
    ["no x5t", jwks(sig(0, { x5t: undefined }), enc(2))],
    ["no x5t#S256", jwks(sig(0, { "x5t#S256": undefined }), enc(2))],
    ["another kty", jwks(sig(0, { kty: "EC" }), enc(2))],
    ["one key twice", jwks(sig(0), enc(0))],
  ];
  for (const [what, json] of cases) {
    const words = await rejection(json);
    assert(!words.includes("not json"), what);
    for (const member of PRIVATE) {
      for (const { privateJwk } of keys) {
        assert(
          !words.includes(String(Object.entries(privateJwk).find(([name]) => name === member)?.[1])),
          what,
        );
      }
    }
  }
});

Deno.test("openKeyRing rejects two keys under one kid [J8]", async () => {
  await rejection(jwks(sig(0, { kid: "same" }), enc(2, { kid: "same" })));
  await rejection(jwks(sig(0), enc(2, { kid: "same" }), enc(3, { kid: "same" })));
});

Deno.test("openKeyRing rejects keys that the platform would not take from others [J5, DP6]", async () => {
  const small = (await smallTestKey()).privateJwk;
  await rejection(jwks(sig(0, { ...small }), enc(2)));
  await rejection(jwks(sig(0), enc(2, { ...small })));
});

Deno.test("openKeyRing rejects a private half that is not the public half's", async () => {
  const { n } = key(1).privateJwk;
  await rejection(jwks(sig(0, { n }), enc(2)));
  await rejection(jwks(sig(0), enc(2, { n })));
});

Deno.test("openKeyRing takes keys of a token that has them, and no private member beside it [F12]", async () => {
  const token: Token = {
    key: (kid) => ({
      sign: async (input) => await signWith(await key(Number(kid.at(-1))).privateKey("sign"), input),
      decrypt: async (input) => await decryptWith(await key(Number(kid.at(-1))).privateKey("decrypt"), input),
    }),
  };
  const inToken = (number: number, extra: object = {}): object => ({ ...key(number).publicJwk, ...extra });
  const own = inToken(0, { use: "sig", kid: "sig-0", ...CERTIFICATE });
  const ring = await openKeyRing(jwks(own, inToken(2, { use: "enc", kid: "enc-2" })), undefined, token);
  const recipient = { kid: "enc-2", key: await key(2).publicKey("encrypt") };
  assert((await openSealed(await sealClaims({ n: 1 }, ring.signer, recipient), ring.decrypters)).ok);
  const rejections = [
    [enc(2), /is not a JWK set of a token .*; look at: keys\.1\.d/],
    [inToken(2, { use: "enc", kid: "enc-3" }), /names a key that the token does not have \(kid enc-3\)/],
  ] as const;
  for (const [other, expected] of rejections) {
    const { message } = await assertRejects(() => openKeyRing(jwks(own, other), undefined, token), Error);
    assertMatch(message, expected);
  }
});
