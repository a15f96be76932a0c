/** `sealed_jwt`: handover JWTs are JWE(JWS(claims)), exactly two layers, and one fixed pair of algorithms. */
import { assert, assertEquals } from "@std/assert";
import { CompactEncrypt, compactVerify, jwtDecrypt } from "jose";
import { readCompactJws } from "../../../src/base/jose/compact_jws.ts";
import { openSealed } from "../../../src/base/jose/sealed_jwt.ts";
import { sealClaims } from "support/sealed.ts";
import { testKey } from "testing/keys.ts";
import { HEADER, okValue, signed, verifyingKey } from "./compact_jws_fixture.ts";
import { bytesOf, importPrivate, type Part, rawJwe, segment, strayBits } from "testing/raw_jws.ts";

const OUTER = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid: "enc-1" };
const recipient = await testKey(4);
const sealingKey = await recipient.publicKey("encrypt");
const decrypter = { kid: "enc-1", key: await recipient.privateKey("decrypt") };
const older = { kid: "enc-0", key: await (await testKey(5)).privateKey("decrypt") };
const keys = [decrypter, older];
const inner = await signed(HEADER);

function sealed(header: Part, plaintext: Part = inner): Promise<string> {
  return rawJwe({ header, plaintext, to: sealingKey });
}

/** The names of the tokens that open though they should not. */
async function wronglyOpened(tokens: readonly (readonly [string, string])[]): Promise<string[]> {
  const readings = await Promise.all(tokens.map(([, token]) => openSealed(token, keys)));
  return tokens.flatMap(([what], index) => readings[index]?.ok ? [what] : []);
}

async function assertRejected(token: string, what: string): Promise<void> {
  assertEquals((await openSealed(token, keys)).ok, false, what);
}

Deno.test("sealClaims makes a JWE to the recipient around a PS256 JWT of the signer [AZ16, A10] [FAPI-D21]", async () => {
  const signer = { kid: "sig-1", key: await (await testKey(0)).privateKey("sign") };
  const token = await sealClaims({ iss: "a", n: [1] }, signer, { kid: "enc-1", key: sealingKey });
  const [outer = ""] = token.split(".");
  assertEquals(JSON.parse(new TextDecoder().decode(decoded(outer))), OUTER);
  const jws = okValue(await openSealed(token, keys));
  const { payload, protectedHeader } = await compactVerify(jws, verifyingKey, { algorithms: ["PS256"] });
  assertEquals(protectedHeader, { alg: "PS256", typ: "JWT", kid: "sig-1" });
  assertEquals(JSON.parse(new TextDecoder().decode(payload)), { iss: "a", n: [1] });
});

Deno.test("sealClaims never makes the same text twice", async () => {
  const signer = { kid: "sig-1", key: await (await testKey(0)).privateKey("sign") };
  const make = (): Promise<string> => sealClaims({ iss: "a" }, signer, { kid: "enc-1", key: sealingKey });
  assert(await make() !== await make());
});

Deno.test("openSealed gives the inner text untouched, for either key of the platform", async () => {
  assertEquals(okValue(await openSealed(await sealed(OUTER), keys)), inner);
  const toOlder = await (await testKey(5)).publicKey("encrypt");
  const token = await rawJwe({ header: { ...OUTER, kid: "enc-0" }, plaintext: inner, to: toOlder });
  assertEquals(okValue(await openSealed(token, keys)), inner);
});

Deno.test("openSealed opens a token of 8,192 characters and names the length of a longer one", async () => {
  const around = (await sealed(OUTER, "")).length;
  const longest = "x".repeat(Math.floor((8_192 - around) * 3 / 4));
  const token = await sealed(OUTER, longest);
  assertEquals(token.length, 8_192);
  assertEquals(okValue(await openSealed(token, keys)), longest);
  const longer = await sealed(OUTER, `${longest}x`);
  const opened = await openSealed(longer, keys);
  assertEquals(opened.ok ? opened : opened.fault.expected, "at most 8192 characters");
});

Deno.test("openSealed opens what a public library seals", async () => {
  const token = await new CompactEncrypt(bytesOf(inner)).setProtectedHeader(OUTER).encrypt(sealingKey);
  assertEquals(okValue(await openSealed(token, keys)), inner);
});

Deno.test("openSealed rejects a 128-bit key under A256GCM [BR-N2]", async () => {
  const contentKey = crypto.getRandomValues(new Uint8Array(16));
  const token = await rawJwe({ header: OUTER, plaintext: inner, to: sealingKey, contentKey });
  await assertRejected(token, "a 128-bit key under A256GCM");
});

Deno.test("openSealed rejects an outer header with two readings [J15, J16]", async () => {
  const text = JSON.stringify(OUTER);
  const headers: [string, Part][] = [
    ["duplicate", text.replace("{", '{"alg":"dir",')],
    ["escaped duplicate", text.replace("{", '{"\\u0065nc":"A128GCM",')],
    ["byte order mark", `\uFEFF${text}`],
    [
      "invalid UTF-8",
      Uint8Array.from([
        ...bytesOf(text.slice(0, -1)),
        0x2c,
        0x22,
        0x74,
        0x79,
        0x70,
        0x22,
        0x3a,
        0x22,
        0xff,
        0x22,
        0x7d,
      ]),
    ],
    ["array", `[${text}]`],
    ["trailing NUL", `${text}\0`],
  ];
  const tokens = await Promise.all(
    headers.map(async ([what, header]) => [what, await sealed(header)] as const),
  );
  assertEquals(await wronglyOpened(tokens), []);
});

Deno.test("openSealed rejects what is not five canonical segments [BR-N1, J17, J18, J20]", async () => {
  const good = await sealed(OUTER);
  const [header = "", key = "", iv = "", text = "", tag = ""] = good.split(".");
  const tokens: [string, string][] = [
    ["nothing", ""],
    ["signed only", inner],
    ["six segments", `${good}.AAAA`],
    ["four segments", [header, key, iv, text].join(".")],
    ["no encrypted key", [header, "", iv, text, tag].join(".")],
    ["no ciphertext", [header, key, iv, "", tag].join(".")],
    ["newline behind", `${good}\n`],
    ["space before", ` ${good}`],
    ["padding", `${good}==`],
    ["stray bits of the encrypted key", [header, strayBits(key), iv, text, tag].join(".")],
    ["stray bits of the tag", [header, key, iv, text, strayBits(tag)].join(".")],
    ["JSON", JSON.stringify({ protected: header, encrypted_key: key, iv, ciphertext: text, tag })],
  ];
  assertEquals(await wronglyOpened(tokens), []);
});

Deno.test("openSealed says one and the same for every altered key, iv, text and tag [BR17, J24]", async () => {
  const parts = (await sealed(OUTER)).split(".");
  const answers = new Set<string>();
  for (let index = 1; index < 5; index++) {
    const bytes = decoded(parts[index] ?? "");
    for (let at = 0; at < bytes.length; at += Math.max(1, bytes.length >> 4)) {
      const altered = bytes.with(at, (bytes[at] ?? 0) ^ 1);
      const verdict = await openSealed(parts.with(index, segment(altered)).join("."), keys);
      answers.add(JSON.stringify(verdict));
    }
  }
  assertEquals([...answers], [JSON.stringify({
    ok: false,
    fault: { at: "encrypted token", expected: "decryptable with the key that kid names" },
  })]);
});

Deno.test("openSealed rejects a plaintext that is not UTF-8", async () => {
  await assertRejected(await sealed(OUTER, new Uint8Array([0xff, 0xfe])), "not UTF-8");
});

const CLAIMS_TEXT = '{"iss":"BANKA","bank_id":"BANKA"}';

Deno.test("the danger that openSealed avoids is real: a JWE of bare claims decrypts as a JWT [BR3]", async () => {
  const token = await sealed(OUTER, CLAIMS_TEXT);
  const { payload } = await jwtDecrypt(token, decrypter.key);
  assertEquals(payload["bank_id"], "BANKA");
  assertEquals(
    readCompactJws(okValue(await openSealed(token, keys)), { maxCharacters: 8192, typ: ["JWT"] }).ok,
    false,
  );
});

Deno.test("openSealed rejects direct use of a signing key as decryption key", async () => {
  const wrong = {
    kid: "enc-1",
    key: await importPrivate(recipient.privateJwk, { name: "RSA-PSS", hash: "SHA-256" }),
  };
  assertEquals((await openSealed(await sealed(OUTER), [wrong])).ok, false);
});

function decoded(text: string): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
