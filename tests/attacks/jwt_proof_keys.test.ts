/** Keys of DPoP proofs that show private members, are too small, or are spelled in a second way. */
import { assertEquals } from "@std/assert";
import { requestToken } from "testing/flows.ts";
import { type Attack, forged, header, rejectedEverywhere, takenEverywhere } from "support/jwt_attacks.ts";
import { proofPlaces } from "support/jwt_places.ts";
import type { JsonObject } from "testing/jwts.ts";
import { largeTestKey, smallTestKey } from "testing/keys.ts";
import { openEnvironment } from "testing/environment.ts";
import { strayBits } from "testing/raw_jws.ts";

Deno.test("a DPoP key with any private member is rejected, also without d [J33] [DP-N6] [DP5]", async (t) => {
  await using env = await openEnvironment();
  const places = await proofPlaces(env);
  const withMembers = (...names: ("d" | "p" | "q" | "dp" | "dq" | "qi")[]): Attack => ({
    name: `jwk with ${names.join(", ")}`,
    forge: (good) => {
      const members = Object.fromEntries(names.map((name) => [name, good.key.privateJwk[name]]));
      return forged(good, { header: { jwk: { ...good.key.publicJwk, ...members } } });
    },
  });
  const shown = (name: string, members: JsonObject): Attack => ({
    name,
    forge: (good) => forged(good, { header: { jwk: { ...good.key.publicJwk, ...members } } }),
  });
  await rejectedEverywhere(t, env, places, [
    withMembers("p", "q"),
    withMembers("dp", "dq", "qi"),
    withMembers("p", "q", "dp", "dq", "qi"),
    withMembers("d", "p", "q", "dp", "dq", "qi"),
    ...(["d", "p", "q", "dp", "dq", "qi"] as const).map((name) => withMembers(name)),
    shown("jwk with oth", { oth: [] }),
    shown("jwk with k", { k: "AAAA" }),
    shown("jwk with an empty d", { d: "" }),
    shown("jwk with d null", { d: null }),
  ]);
});

Deno.test("a DPoP key has one spelling and a sound size [J34] [J5] [DP-N5] [DP-N6] [DP6]", async (t) => {
  await using env = await openEnvironment();
  const places = await proofPlaces(env);
  const { n: small } = (await smallTestKey()).publicJwk;
  const spelled = (name: string, change: (n: string) => JsonObject): Attack => ({
    name,
    forge: (good) =>
      forged(good, { header: { jwk: { ...good.key.publicJwk, ...change(good.key.publicJwk.n) } } }),
  });
  const octets = (change: (n: Uint8Array) => Uint8Array) => (n: string): JsonObject => {
    const bytes = Uint8Array.fromBase64(n, { alphabet: "base64url" });
    return { n: change(bytes).toBase64({ alphabet: "base64url", omitPadding: true }) };
  };
  await rejectedEverywhere(t, env, places, [
    spelled("n with a leading zero octet", octets((n) => new Uint8Array([0, ...n]))),
    spelled("n with two leading zero octets", octets((n) => new Uint8Array([0, 0, ...n]))),
    spelled("n padded", (n) => ({ n: `${n}==` })),
    spelled("n even", octets((n) => n.with(-1, (n.at(-1) ?? 0) & 0xfe))),
    spelled("n a power of two", octets((n) => new Uint8Array(n.length).with(0, 0x80))),
    spelled("n zero", octets((n) => new Uint8Array(n.length))),
    spelled("n empty", () => ({ n: "" })),
    spelled("n missing", () => ({ n: undefined })),
    spelled("n with stray bits", (n) => ({ n: strayBits(n) })),
    spelled("n a number", () => ({ n: 5 })),
    spelled("n a list", (n) => ({ n: [n] })),
    spelled("n of 1024 bits", () => ({ n: small })),
    spelled("n of 2047 bits", octets((n) => n.with(0, 0x7f))),
    spelled("n of 4097 bits", octets(() => new Uint8Array(513).fill(0xff).with(0, 1))),
    spelled("n of 8 kB", octets(() => new Uint8Array(5000).fill(0xff))),
    ...["AAEAAQ", "AAAAAQAB", "AQABAA", "Aw", "AQ", "AA", "", "AQAB=", "AQAC", "/////w"].map((e) =>
      spelled(`e ${e === "" ? "empty" : e}`, () => ({ e }))
    ),
    spelled("e missing", () => ({ e: undefined })),
    spelled("e a number", () => ({ e: 65537 })),
    spelled("kty in lower case", () => ({ kty: "rsa" })),
    spelled("kty EC", () => ({ kty: "EC", crv: "P-256", x: "AA", y: "AA" })),
    spelled("kty missing", () => ({ kty: undefined })),
    header("jwk missing", { jwk: undefined }),
    header("jwk oct", { jwk: { kty: "oct", k: "AAAA" } }),
    {
      name: "jwk as a text",
      forge: (good) => forged(good, { header: { jwk: JSON.stringify(good.key.publicJwk) } }),
    },
    { name: "jwk in a list", forge: (good) => forged(good, { header: { jwk: [good.key.publicJwk] } }) },
    ...[null, "key", [], {}, 7, true].map((jwk) => header(`jwk ${JSON.stringify(jwk)}`, { jwk })),
  ]);
  await t.step("a key of 3072 bits is fine", async () => {
    assertEquals((await requestToken(env, env.tpp, "BANKA", { key: await largeTestKey() })).status, 200);
  });
  await takenEverywhere(t, places);
});
