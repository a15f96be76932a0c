/** `readCompactJws` and `verifyClaims` against the attacks of contract J1 to J38, with real keys and signatures. */
import { assert, assertEquals } from "@std/assert";
import {
  type HeaderRules,
  isCanonicalBase64url,
  type JsonObject,
  readCompactJws,
} from "../../../src/base/jose/compact_jws.ts";
import { smallTestKey, testKey } from "../../../scripts/testing/keys.ts";
import {
  assertRejected,
  CLAIMS,
  HEADER,
  opened,
  RULES,
  signed,
  signer,
  signingKey,
  valueOf,
  verifyingKey,
} from "./compact_jws_fixture.ts";
import { bytesOf, importPrivate, rawJws, segment, strayBits } from "../../../scripts/testing/raw_jws.ts";

const outsider = await testKey(1);

Deno.test("readCompactJws and verifyClaims give the claims of a good token", async () => {
  assertEquals(await opened(await signed(HEADER)), { ok: true, value: CLAIMS });
});

Deno.test("readCompactJws gives the header as sent, unknown members included", () => {
  const header = { ...HEADER, "x5t": "abc", extra: [1] };
  const jws = readCompactJws(`${segment(header)}.${segment(CLAIMS)}.AAAA`, RULES);
  assertEquals(valueOf(jws).header, header);
});

Deno.test("readCompactJws rejects alg none in any spelling, signed or not [J1]", async () => {
  for (const alg of ["none", "None", "NONE", "nOnE", "", null, ["PS256"], "ps256", "PS256 ", undefined]) {
    const token = await signed({ ...HEADER, alg });
    await assertRejected(token, `alg ${alg}`);
    await assertRejected(token.slice(0, token.lastIndexOf(".") + 1), `alg ${alg}, empty signature`);
  }
});

Deno.test("readCompactJws rejects HS256 keyed with the public key's bytes [J2]", async () => {
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", verifyingKey));
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki.toBase64()}\n-----END PUBLIC KEY-----\n`;
  const input = `${segment({ ...HEADER, alg: "HS256" })}.${segment(CLAIMS)}`;
  for (const secret of [spki, bytesOf(pem), bytesOf(signer.publicJwk)]) {
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign"]);
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytesOf(input)));
    await assertRejected(`${input}.${segment(mac)}`, "HS256");
  }
});

Deno.test("readCompactJws rejects every other algorithm with the right key [J3]", async () => {
  const ecPair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  const pkcs1 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const cases: [string, AlgorithmIdentifier | EcdsaParams | RsaPssParams, CryptoKey][] = [
    ["RS256", pkcs1, await importPrivate(signer.privateJwk, pkcs1, "sign")],
    ["PS384", { name: "RSA-PSS", saltLength: 48 }, await pssKey("SHA-384")],
    ["PS512", { name: "RSA-PSS", saltLength: 64 }, await pssKey("SHA-512")],
    ["ES256", { name: "ECDSA", hash: "SHA-256" }, ecPair.privateKey],
  ];
  for (const [alg, params, key] of cases) {
    const input = `${segment({ ...HEADER, alg })}.${segment(CLAIMS)}`;
    const signature = new Uint8Array(await crypto.subtle.sign(params, key, bytesOf(input)));
    await assertRejected(`${input}.${segment(signature)}`, alg);
  }
});

Deno.test("verifyClaims rejects another algorithm's signature under an honest-looking header [J3]", async () => {
  const pkcs1 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const key = await importPrivate(signer.privateJwk, pkcs1, "sign");
  const input = `${segment(HEADER)}.${segment(CLAIMS)}`;
  const signature = new Uint8Array(await crypto.subtle.sign(pkcs1, key, bytesOf(input)));
  await assertRejected(`${input}.${segment(signature)}`, "PKCS#1 v1.5 value");
});

Deno.test("verifyClaims rejects a PSS salt of another length than the hash [J4]", async () => {
  for (const saltLength of [0, 20, 31, 33, 64]) {
    await assertRejected(await rawJws(signingKey, HEADER, CLAIMS, saltLength), `salt of ${saltLength}`);
  }
});

Deno.test("verifyClaims says no to a 1024-bit key instead of failing [J5]", async () => {
  const small = await smallTestKey();
  const token = await rawJws(await small.privateKey("sign"), HEADER, CLAIMS);
  assertEquals((await opened(token, await small.publicKey("verify"))).ok, false);
});

Deno.test("verifyClaims rejects another key's signature and every altered part", async () => {
  const good = await signed(HEADER);
  const [header = "", claims = "", signature = ""] = good.split(".");
  const other = segment({ ...CLAIMS, iss: "other" });
  await assertRejected(await rawJws(await outsider.privateKey("sign"), HEADER, CLAIMS), "another key");
  await assertRejected(`${header}.${other}.${signature}`, "other claims");
  await assertRejected(`${segment({ ...HEADER, kid: "key-2" })}.${claims}.${signature}`, "other header");
  await assertRejected(`${header}.${claims}.${signature.slice(0, -4)}`, "shorter signature");
  await assertRejected(`${header}.${claims}.${signature}AAAA`, "longer signature");
  await assertRejected(`${header}.${claims}.${segment(new Uint8Array(256))}`, "zero signature");
});

Deno.test("readCompactJws rejects headers that bring a key or say where one is [J9, J10, J11]", async () => {
  const members: [string, unknown][] = [
    ["jwk", outsider.publicJwk],
    ["jwk", null],
    ["jku", "https://evil.example/jwks"],
    ["jku", "http://127.0.0.1/"],
    ["x5u", "http://169.254.169.254/latest/meta-data"],
    ["x5c", ["MIIB"]],
  ];
  for (const [name, value] of members) await assertRejected(await signed({ ...HEADER, [name]: value }), name);
});

Deno.test("readCompactJws rejects crit of any form, and b64 with and without it [J12, J13]", async () => {
  const members: JsonObject[] = [
    { crit: [] },
    { crit: ["exp"], exp: 1 },
    { crit: ["alg"] },
    { crit: "b64" },
    { crit: null },
    { crit: ["b64"], b64: false },
    { b64: false },
    { b64: true },
    { b64: null },
  ];
  for (const extra of members) {
    await assertRejected(await signed({ ...HEADER, ...extra }), JSON.stringify(extra));
  }
});

Deno.test("readCompactJws rejects header members of encryption [J21]", async () => {
  for (const name of ["zip", "enc", "epk", "apu", "apv", "p2c", "p2s"]) {
    await assertRejected(await signed({ ...HEADER, [name]: "x" }), name);
  }
});

Deno.test("readCompactJws rejects a token above the limit unread, and takes one at it [J14]", async () => {
  const token = await signed(HEADER);
  const limit = (maxCharacters: number): HeaderRules => ({ ...RULES, maxCharacters });
  assert((await opened(token, verifyingKey, limit(token.length))).ok);
  await assertRejected(token, "one character above", limit(token.length - 1));
  await assertRejected(`${segment(HEADER)}.${"A".repeat(1_000_000)}.AAAA`, "1 MB");
});

Deno.test("readCompactJws rejects every second spelling of the same bytes [J17, CA-N18]", async () => {
  const good = await signed(HEADER, { ...CLAIMS, pad: "xx" }); // header and claims end in a partial group
  const [header = "", claims = "", signature = ""] = good.split(".");
  const header2 = segment({ alg: "PS256", kid: "k" }); // 26 bytes: one spare bit pair
  const spellings = [
    `${good}\n`,
    `${good} `,
    ` ${good}`,
    `\uFEFF${good}`,
    `${good}=`,
    `${good}==`,
    `${header}=.${claims}.${signature}`,
    `${header}.${claims}=.${signature}`,
    `${header}.${claims.slice(0, 8)}\n${claims.slice(8)}.${signature}`,
    `${header}.${claims}.${signature.slice(0, 8)} ${signature.slice(8)}`,
    `${header}.${claims}.${strayBits(signature)}`,
    `${strayBits(header2)}.${claims}.${signature}`,
    `${header}.${claims}.${signature.replaceAll("-", "+").replaceAll("_", "/")}`,
    `${header}.${claims}.${signature}A`,
    `${header}..${claims}.${signature}`,
    `.${header}.${claims}.${signature}`,
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}..${signature}`,
    `${good}.AAAA`,
    `${good},${good}`,
    "",
    ".",
    "..",
  ];
  assert((await opened(good)).ok);
  for (const token of spellings) {
    if (token !== good) await assertRejected(token, JSON.stringify(token.slice(-40)));
  }
});

Deno.test("readCompactJws rejects the JSON serialisations [J18]", async () => {
  const [header, payload, signature] = (await signed(HEADER)).split(".");
  const flattened = { payload, protected: header, signature };
  const general = { payload, signatures: [{ protected: header, signature }] };
  await assertRejected(JSON.stringify(flattened), "flattened");
  await assertRejected(JSON.stringify(general), "general");
});

Deno.test("readCompactJws rejects a JWE [J20]", async () => {
  await assertRejected(`${segment({ alg: "RSA-OAEP-256", enc: "A256GCM" })}.AAAA.AAAA.AAAA.AAAA`, "JWE");
});

Deno.test("readCompactJws compares typ as a media type and takes only the listed ones [CA-N20, CA-N21]", async () => {
  for (const typ of ["JWT", "jwt", "application/jwt", "APPLICATION/JWT"]) {
    assert((await opened(await signed({ ...HEADER, typ }))).ok, typ);
  }
  assert((await opened(await signed({ alg: "PS256", kid: "k" }))).ok, "absent");
  for (
    const typ of ["dpop+jwt", "JOSE", "JWT ", "", "text/jwt", "application/application/jwt", null, ["JWT"], 1]
  ) {
    await assertRejected(await signed({ ...HEADER, typ }), `typ ${typ}`);
  }
});

Deno.test("readCompactJws demands typ where the rules do not let it be absent [DP-N4]", async () => {
  const rules = { ...RULES, typ: ["dpop+jwt"] };
  await assertRejected(await signed({ alg: "PS256", kid: "k" }), "absent", rules);
  await assertRejected(await signed({ alg: "PS256", typ: "dpop+jwt+wrongyousee" }), "other", rules);
  assert((await opened(await signed({ alg: "PS256", typ: "dpop+jwt" }), verifyingKey, rules)).ok);
});

Deno.test("readCompactJws wants jwk where the key is embedded, and nothing else that names one [DP-N6, J10]", async () => {
  const rules: HeaderRules = { maxCharacters: 8192, typ: ["dpop+jwt"], embeddedKey: true };
  const header = { alg: "PS256", typ: "dpop+jwt" };
  assert((await opened(await signed({ ...header, jwk: signer.publicJwk }), verifyingKey, rules)).ok);
  await assertRejected(await signed(header), "no jwk", rules);
  await assertRejected(
    await signed({ ...header, jwk: signer.publicJwk, jku: "https://x.example" }),
    "jku",
    rules,
  );
});

Deno.test("isCanonicalBase64url accepts exactly what encoding bytes gives [J17]", () => {
  for (let length = 0; length < 5; length++) {
    for (let byte = 0; byte < 256; byte++) {
      assert(isCanonicalBase64url(segment(new Uint8Array(length).fill(byte))));
    }
  }
  for (
    const text of ["A", "AAAAA", "AB", "AAB", "AA==", "A+==", "A/AA", "AA\n", "\u0410\u0410\u0410\u0410"]
  ) {
    assertEquals(isCanonicalBase64url(text), false, JSON.stringify(text));
  }
});

Deno.test("readCompactJws and verifyClaims answer every mutation with a no, never an exception [J38]", async () => {
  const good = await signed(HEADER);
  for (let at = 0; at < good.length; at += 3) {
    for (const character of ["A", ".", "\u0000", "="]) {
      const token = good.slice(0, at) + character + good.slice(at + 1);
      const verdict = await opened(token);
      if (token !== good) assertEquals(verdict.ok, false, `${character} at ${at}`);
    }
  }
});

async function pssKey(hash: string): Promise<CryptoKey> {
  return await importPrivate(signer.privateJwk, { name: "RSA-PSS", hash }, "sign");
}
