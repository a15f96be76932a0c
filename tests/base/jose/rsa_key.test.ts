/** `rsa_key`: accepts one encoding per key, rejects private and weak keys, and limits the use of imported keys. */
import { assertEquals, assertNotEquals } from "@std/assert";
import {
  importRsaPublicKey,
  jwkThumbprint,
  openProofKeys,
  readRsaPublicJwk,
  spkiThumbprint,
} from "../../../src/base/jose/rsa_key.ts";
import { largeTestKey, testKey } from "testing/keys.ts";
import { bytesOf, concat, segment } from "testing/raw_jws.ts";

const key = await testKey(2);
const { n } = key.publicJwk;
const modulus = Uint8Array.fromBase64(n, { alphabet: "base64url" });

function readable(jwk: unknown): boolean {
  return readRsaPublicJwk(jwk).ok;
}

Deno.test("readRsaPublicJwk gives the public members and nothing else [DP5]", () => {
  const jwk = { ...key.publicJwk, kid: "k", use: "sig", alg: "PS256", x5c: ["MIIB"], "x5t": "t" };
  assertEquals(readRsaPublicJwk(jwk), { ok: true, value: { kty: "RSA", n, e: "AQAB" } });
});

Deno.test("readRsaPublicJwk takes 2048 to 4096 bits [DP6]", async () => {
  assertEquals(readable((await largeTestKey()).publicJwk), true);
  assertEquals(readable({ kty: "RSA", e: "AQAB", n: modulusOf(2048) }), true);
  assertEquals(readable({ kty: "RSA", e: "AQAB", n: modulusOf(4096) }), true);
});

Deno.test("readRsaPublicJwk counts bits, not octets [DP6]", () => {
  const octets = modulus.slice();
  octets[0] = 0x7f; // 2047 bits
  assertEquals(readable({ kty: "RSA", e: "AQAB", n: segment(octets) }), false);
  assertEquals(readable({ kty: "RSA", e: "AQAB", n: segment(concat(new Uint8Array([1]), modulus)) }), true);
});

Deno.test("readRsaPublicJwk never throws at names of Object.prototype [J37]", () => {
  assertEquals(readable(JSON.parse(`{"__proto__":{"kty":"RSA","e":"AQAB","n":"${n}"}}`)), false);
  assertEquals(readable({ ...key.publicJwk, constructor: 1, hasOwnProperty: 1 }), true);
});

Deno.test("jwkThumbprint is SHA-256 over the RFC 7638 members in order, and nothing else", async () => {
  const read = readRsaPublicJwk({ ...key.publicJwk, kid: "other", use: "sig" });
  if (!read.ok) throw new Error(read.fault.expected);
  const canonical = `{"e":"AQAB","kty":"RSA","n":"${n}"}`;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(canonical)));
  assertEquals(await jwkThumbprint(read.value), segment(digest));
  assertEquals((await jwkThumbprint(read.value)).length, 43);
});

Deno.test("jwkThumbprint gives the value printed in RFC 7638 §3.1", async () => {
  const example =
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECP" +
    "ebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs" +
    "8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqb" +
    "w0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
  assertEquals(
    await jwkThumbprint({ kty: "RSA", n: example, e: "AQAB" }),
    "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
  );
});

Deno.test("importRsaPublicKey gives a key for its one purpose", async () => {
  const jwk = { ...key.publicJwk };
  const verifier = await importRsaPublicKey(jwk, "verify");
  const sealer = await importRsaPublicKey(jwk, "encrypt");
  assertEquals([verifier.usages, verifier.algorithm.name], [["verify"], "RSA-PSS"]);
  assertEquals([sealer.usages, sealer.algorithm.name], [["encrypt"], "RSA-OAEP"]);
  const data = bytesOf("signed");
  const pss = { name: "RSA-PSS", saltLength: 32 };
  const signature = await crypto.subtle.sign(pss, await key.privateKey("sign"), data);
  assertEquals(await crypto.subtle.verify(pss, verifier, signature, data), true);
});

Deno.test("spkiThumbprint is SHA-256 of the SubjectPublicKeyInfo, one per key", async () => {
  const spki = async (number: number): Promise<ArrayBuffer> =>
    await crypto.subtle.exportKey("spki", await (await testKey(number)).publicKey("verify"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await spki(2)));
  assertEquals(await spkiThumbprint(await spki(2)), segment(digest));
  assertNotEquals(await spkiThumbprint(await spki(2)), await spkiThumbprint(await spki(3)));
});

/** A number of exactly this many bits, in whole octets. */
function modulusOf(bits: number): string {
  return segment(new Uint8Array(bits / 8).fill(0xff));
}

Deno.test("openProofKeys imports a key each time until a proof has been verified with it", async () => {
  const keys = openProofKeys();
  const jwk = key.publicJwk;
  const first = await keys.find(jwk);
  assertEquals(first.thumbprint, await jwkThumbprint(jwk));
  assertEquals(await keys.find(jwk) === first, false);
  keys.remember(jwk, first);
  assertEquals(await keys.find(jwk) === first, true);
  const other = await keys.find((await testKey(3)).publicJwk);
  assertNotEquals(other.thumbprint, first.thumbprint);
});
