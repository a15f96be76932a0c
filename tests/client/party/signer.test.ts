import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { exportJWK, exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { SettingsError } from "../../../src/client/party/errors.ts";
import { openSigner, type SigningKey, signJwt } from "../../../src/client/party/signer.ts";
import { openTpp } from "../../../src/client/tpp/tpp.ts";

const { privateKey, publicKey } = await generateKeyPair("PS256", { extractable: true });
const pss = { name: "RSA-PSS", saltLength: 32 };
const sign = async (data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign(pss, privateKey, data));

const forms: Readonly<Record<string, SigningKey>> = {
  "PKCS#8 PEM": await exportPKCS8(privateKey),
  "JWK": await exportJWK(privateKey),
  "CryptoKey": privateKey,
  "function": sign,
};

for (const [form, key] of Object.entries(forms)) {
  Deno.test(`a ${form} signs JWTs that the public key verifies`, async () => {
    const jwt = await signJwt(await openSigner("kid-1", key), { sub: "me" });
    const { payload, protectedHeader } = await jwtVerify(jwt, publicKey, { algorithms: ["PS256"] });
    assertEquals([protectedHeader, payload], [{ alg: "PS256", typ: "JWT", kid: "kid-1" }, { sub: "me" }]);
  });
}

Deno.test("a key that cannot sign PS256 is rejected, and the message has neither the key nor a stack of causes", async (t) => {
  const rsaSha512 = await generateKeyPair("PS512");
  const short = await crypto.subtle.generateKey(
    { name: "RSA-PSS", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
    true,
    ["sign", "verify"],
  );
  const unusable: Readonly<Record<string, SigningKey>> = {
    "a public CryptoKey": publicKey,
    "a public JWK": await exportJWK(publicKey),
    "another hash": rsaSha512.privateKey,
    "an EC key": (await generateKeyPair("ES256")).privateKey,
    "1024 bits": short.privateKey,
    "1024 bits in a PEM": await exportPKCS8(short.privateKey),
    "a text": "secret-secret-secret",
    "a secret JWK": { kty: "oct", k: "c2VjcmV0LXNlY3JldC1zZWNyZXQ" },
  };
  for (const [name, key] of Object.entries(unusable)) {
    await t.step(name, async () => {
      const error = await assertRejects(() => openSigner("kid-1", key), SettingsError);
      assertMatch(error.message, /^The signing key kid-1 cannot sign PS256\. Expected a private RSA key/);
      assertEquals([error.cause, /secret/.test(error.message)], [undefined, false]);
    });
  }
  await t.step("no kid", () => assertRejects(() => openSigner("", privateKey), SettingsError).then(() => {}));
});

Deno.test("a function that returns no raw signature is named, not sent", async (t) => {
  const wrong: Readonly<Record<string, () => Promise<unknown>>> = {
    "base64": () => Promise.resolve("c2lnbmF0dXJl"),
    "an ECDSA signature": () => Promise.resolve(new Uint8Array(64)),
    "nothing": () => Promise.resolve(undefined),
  };
  for (const [name, key] of Object.entries(wrong)) {
    await t.step(name, async () => {
      const signer = await openSigner("kid-1", key as () => Promise<Uint8Array>);
      await assertRejects(() => signJwt(signer, {}), SettingsError, "Expected the raw signature");
    });
  }
});

Deno.test("openTpp names the credential that cannot be used", async (t) => {
  const claims = {
    org_id: "ORG-1",
    org_name: "Shop Ltd",
    software_client_id: "SC-1",
    software_redirect_uris: ["https://shop.example/callback"],
  };
  const signer = await openSigner("kid-1", privateKey);
  const endpoints = {
    base_url: "https://a.example",
    auth_url: "https://b.example",
    directory_url: "https://c.example",
  };
  const open = async (changed: object, more: object = {}): Promise<unknown> =>
    await openTpp({
      credentials: {
        softwareStatement: await signJwt(signer, { ...claims, ...changed }),
        signing: { kid: "kid-1", key: sign },
      },
      endpoints,
      redirectUri: "https://shop.example/callback",
      ...more,
    });
  const fetch = (): Promise<Response> => Promise.resolve(new Response());
  const faults = {
    "not a software statement": () => open({ org_id: undefined }, { fetch }),
    "is not a redirect URL of Shop Ltd": () => open({}, { fetch, redirectUri: "https://other.example/" }),
    "No network certificate": () => open({}),
  };
  for (const [words, attempt] of Object.entries(faults)) {
    await t.step(words, () => assertRejects(attempt, SettingsError, words).then(() => {}));
  }
  await t.step("none", () => open({}, { fetch }).then(() => {}));
});
