/** Keys and key sets from outside: no document is worse than rejected, and what is taken, WebCrypto takes. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { calculateJwkThumbprint, compactDecrypt } from "jose";
import { importRsaPublicKey, jwkThumbprint, readRsaPublicJwk } from "../../src/base/jose/rsa_key.ts";
import { openSealed } from "../../src/base/jose/sealed_jwt.ts";
import { sealClaims } from "support/sealed.ts";
import { keysOf } from "../../src/platform/core/participants/guarded_fetch.ts";
import { importKeySet } from "../../src/platform/core/participants/participant_keys.ts";
import { readSigningRequest } from "../../src/directory/keys/signing_request.ts";
import { testKey } from "testing/keys.ts";
import { signingRequest } from "testing/participants.ts";
import { segment } from "testing/raw_jws.ts";
import { mutated, mutatedJson, runs } from "./runs.ts";

const good = (await testKey(0)).publicJwk;
const modulus = fc.oneof(
  fc.uint8Array({ minLength: 254, maxLength: 258 }),
  fc.uint8Array({ minLength: 510, maxLength: 514 }),
  fc.tuple(fc.constantFrom(256, 384, 512), fc.nat(255), fc.nat(255)).map(([length, first, last]) =>
    new Uint8Array(length).fill(0xff).with(0, first).with(-1, last)
  ),
).map((octets) => segment(octets));
const jwk = fc.oneof(
  mutatedJson(good),
  fc.jsonValue(),
  modulus.map((n) => ({ ...good, n })),
  mutated(good.n).map((n) => ({ ...good, n })),
);

Deno.test("readRsaPublicJwk takes only what WebCrypto imports, checks signatures with, and writes back alike", async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(jwk, async (value) => {
      const read = readRsaPublicJwk(value);
      if (!read.ok) return;
      taken += 1;
      const key = await importRsaPublicKey(read.value, "verify");
      const { kty, n, e } = await crypto.subtle.exportKey("jwk", key);
      assertEquals({ kty, n, e }, { ...read.value });
      assertEquals(
        await jwkThumbprint(read.value),
        await calculateJwkThumbprint({ kty: "RSA", n: n ?? "", e: e ?? "" }),
      );
      const algorithm = { name: "RSA-PSS", saltLength: 32 };
      assertEquals(await crypto.subtle.verify(algorithm, key, new Uint8Array(256), new Uint8Array()), false);
      await crypto.subtle.encrypt(
        "RSA-OAEP",
        await importRsaPublicKey(read.value, "encrypt"),
        new Uint8Array(32),
      );
    }),
    runs(600),
  );
  assert(taken > 30, `only ${taken} keys were taken`);
});

Deno.test("importKeySet makes a key set of any document, out of what is usable in it", async () => {
  const entry = { ...good, kid: "a", use: "sig", alg: "PS256" };
  const entries = fc.array(fc.oneof(fc.jsonValue({ maxDepth: 2 }), mutatedJson(entry), fc.constant(entry)), {
    maxLength: 4,
  });
  const document = fc.oneof(
    fc.jsonValue(),
    entries.map((keys) => ({ keys })),
    mutatedJson({ keys: [entry] }),
  );
  await fc.assert(
    fc.asyncProperty(document, document, async (active, revoked) => {
      const [keys, gone] = [keysOf(active), keysOf(revoked)];
      if (!keys.ok || !gone.ok) return;
      const { signing, transport, encryption } = await importKeySet(keys.value, gone.value);
      assert(signing.size + transport.size + encryption.length <= 2 * keys.value.length);
      for (const key of signing.values()) assertEquals(key.usages, ["verify"]);
      for (const { key } of encryption) assertEquals(key.usages, ["encrypt"]);
    }),
    runs(300),
  );
});

Deno.test("openSealed opens what sealClaims seals, as jose does, and rejects every other text", async () => {
  const key = await testKey(4);
  const recipient = { kid: "enc-1", key: await key.publicKey("encrypt") };
  const decrypter = { kid: "enc-1", key: await key.privateKey("decrypt") };
  const signer = { kid: "sig-1", key: await (await testKey(0)).privateKey("sign") };
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }),
      async (claims) => {
        const sealed = await sealClaims(claims, signer, recipient);
        const { plaintext } = await compactDecrypt(sealed, decrypter.key);
        assertEquals(await openSealed(sealed, [decrypter]), {
          ok: true,
          value: new TextDecoder().decode(plaintext),
        });
      },
    ),
    runs(20),
  );
  const sealed = await sealClaims({ iss: "x" }, signer, recipient);
  const text = fc.oneof(
    fc.string(),
    mutated(sealed),
    fc.array(fc.json().map(segment)).map((parts) => parts.join(".")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (token) => {
      assertEquals((await openSealed(token, [decrypter])).ok, token === sealed);
    }),
    runs(300),
  );
});

Deno.test("readSigningRequest takes or rejects any text, and gives the key that signed it", async () => {
  const key = await testKey(1);
  const pem = await signingRequest(key, "Example");
  const der = Uint8Array.fromBase64(pem.replaceAll(/-----[^-]+-----|\s/g, ""));
  const asPem = (octets: Uint8Array): string =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${octets.toBase64()}\n-----END CERTIFICATE REQUEST-----`;
  const changed = fc.tuple(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, by]) =>
    asPem(der.with(at, (der[at] ?? 0) ^ by))
  );
  const text = fc.oneof(
    fc.string(),
    mutated(pem),
    changed,
    fc.uint8Array().map(asPem),
    fc.nat(der.length).map((end) => asPem(der.subarray(0, end))),
  );
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const read = await readSigningRequest(value);
      if (read.ok) assertEquals({ ...read.value.jwk }, { ...key.publicJwk });
    }),
    runs(400),
  );
  assertEquals((await readSigningRequest(pem)).ok, true);
});
