/** `openKeyRing` over time: the next keys are published before they are used, the former ones after; renewal is whole or none. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { decodeProtectedHeader } from "jose";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { openSealed } from "../../../src/base/jose/sealed_jwt.ts";
import { sealClaims } from "support/sealed.ts";
import { signClaims } from "../../../src/base/jose/own_key.ts";
import { testKey } from "testing/keys.ts";

const CERTIFICATE = { x5c: ["MIIB"], "x5t": "thumb-sha1", "x5t#S256": "thumb-sha256" };
const NOW = Date.UTC(2040, 0, 1) / 1000;

async function sig(number: number, times: { nbf?: number; exp?: number } = {}): Promise<object> {
  return {
    ...(await testKey(number)).privateJwk,
    use: "sig",
    kid: `sig-${number}`,
    ...CERTIFICATE,
    ...times,
  };
}

async function enc(number: number, times: { nbf?: number; exp?: number } = {}): Promise<object> {
  return { ...(await testKey(number)).privateJwk, use: "enc", kid: `enc-${number}`, ...times };
}

async function jwks(...keys: readonly Promise<object>[]): Promise<string> {
  return JSON.stringify({ keys: await Promise.all(keys) });
}

/** A clock in Unix seconds that the test moves. */
function movable(): { now: number; clock: () => number } {
  const time = { now: NOW, clock: () => time.now * 1000 };
  return time;
}

Deno.test("openKeyRing publishes the next keys at once, uses them from their nbf, and puts the keys in use first", async () => {
  const time = movable();
  const next = NOW + 100;
  const exp = NOW + 200;
  const set = jwks(sig(0, { exp }), enc(2, { exp }), sig(1, { nbf: next }), enc(3, { nbf: next }));
  const ring = await openKeyRing(await set, time.clock);
  const seen = (): unknown => [ring.signer.kid, ring.publicJwks.keys.map(({ kid }) => kid)];
  const until = ["sig-0", ["sig-0", "enc-2", "sig-1", "enc-3"]];
  const from = ["sig-1", ["sig-1", "enc-3", "sig-0", "enc-2"]];
  assertEquals(seen(), until);
  time.now = next - 1;
  await Promise.resolve(); // the choice holds for one turn
  assertEquals(seen(), until);
  time.now = next;
  await Promise.resolve();
  assertEquals(seen(), from);
  time.now = exp - 1;
  await Promise.resolve();
  assertEquals(seen(), from);
  time.now = exp;
  await Promise.resolve();
  assertEquals(seen(), ["sig-1", ["sig-1", "enc-3"]]);
});

Deno.test("openKeyRing opens with every key that it holds, whatever the time", async () => {
  const time = movable();
  const ring = await openKeyRing(
    await jwks(sig(0), enc(2, { exp: NOW - 1 }), enc(3), enc(4, { nbf: NOW + 1 })),
    time.clock,
  );
  for (const number of [2, 3, 4]) {
    const recipient = { kid: `enc-${number}`, key: await (await testKey(number)).publicKey("encrypt") };
    assert((await openSealed(await sealClaims({ number }, ring.signer, recipient), ring.decrypters)).ok);
  }
});

Deno.test("openKeyRing signs with one key within a turn, although its time comes between kid and key", async () => {
  const time = movable();
  const ring = await openKeyRing(await jwks(sig(0), sig(1, { nbf: NOW + 1 }), enc(2)), time.clock);
  const { kid } = ring.signer;
  time.now = NOW + 1;
  assertEquals([kid, ring.signer.kid], ["sig-0", "sig-0"]);
  await Promise.resolve();
  const token = await signClaims({ iss: "platform" }, ring.signer);
  assertEquals(decodeProtectedHeader(token).kid, "sig-1");
  const [head = "", body = "", signature = ""] = token.split(".");
  const key = await (await testKey(1)).publicKey("verify");
  const bytes = Uint8Array.fromBase64(signature, { alphabet: "base64url" });
  const signed = new TextEncoder().encode(`${head}.${body}`);
  assert(await crypto.subtle.verify({ name: "RSA-PSS", saltLength: 32 }, key, bytes, signed));
});

Deno.test("openKeyRing never takes the last key in use away, whatever its exp says", async () => {
  const time = movable();
  const ring = await openKeyRing(await jwks(sig(0, { exp: NOW - 1 }), enc(2, { exp: NOW - 1 })), time.clock);
  assertEquals(ring.signer.kid, "sig-0");
  assertEquals(ring.publicJwks.keys.map(({ kid }) => kid), ["sig-0", "enc-2"]);
});

Deno.test("openKeyRing publishes neither times nor anything else of its own", async () => {
  const ring = await openKeyRing(
    await jwks(sig(0, { nbf: 1, exp: NOW + 9 }), enc(2, { nbf: 1 })),
    movable().clock,
  );
  const members = ring.publicJwks.keys.map((key) => Object.keys(key).sort());
  assertEquals(members, [["alg", "e", "kid", "kty", "n", "use", "x5c", "x5t", "x5t#S256"], [
    "alg",
    "e",
    "kid",
    "kty",
    "n",
    "use",
  ]]);
});

Deno.test("openKeyRing rejects a set without a key in use, and times that are none", async () => {
  const { clock } = movable();
  const rejections = [
    jwks(sig(0, { nbf: NOW + 1 }), enc(2)),
    jwks(sig(0), enc(2, { nbf: NOW + 1 })),
    jwks(sig(0, { nbf: 1.5 }), enc(2)),
    jwks(sig(0, { exp: -1 }), enc(2)),
  ];
  for (const set of rejections) await assertRejects(async () => await openKeyRing(await set, clock), Error);
});

Deno.test("openKeyRing's renewal changes everything that was handed out, or nothing", async () => {
  const { clock } = movable();
  const ring = await openKeyRing(await jwks(sig(0), enc(2)), clock);
  const { signer, decrypters } = ring;
  await assertRejects(async () => await ring.renew("no JSON"), Error);
  await assertRejects(async () => await ring.renew(await jwks(sig(1), sig(3))), Error);
  assertEquals([signer.kid, decrypters.map(({ kid }) => kid)], ["sig-0", ["enc-2"]]);
  await ring.renew(await jwks(sig(1), enc(2), enc(3)));
  assertEquals([signer.kid, decrypters.map(({ kid }) => kid)], ["sig-1", ["enc-2", "enc-3"]]);
  assertEquals(ring.publicJwks.keys.map(({ kid }) => kid), ["sig-1", "enc-2", "enc-3"]);
});
