import { assertEquals } from "@std/assert";
import { CompactEncrypt } from "jose";
import {
  assertNotAuthentic,
  IMPLICIT,
  platformEncryptionKey,
  returnTo,
  sealedReturn,
  sealedUnderHeader,
  signedReturn,
} from "../../../scripts/testing/bank_return.ts";
import { openHandover, toBank } from "../../../scripts/testing/authorization_flow.ts";
import { assertCodeAnswer } from "../../../scripts/testing/front_channel.ts";
import { sealToPlatform } from "../../../scripts/testing/jwts.ts";
import { testKey } from "../../../scripts/testing/keys.ts";
import { openEnvironment } from "../../../scripts/testing/environment.ts";
import { rawJwe, rawJws, segment } from "../../../scripts/testing/raw_jws.ts";

const PATH = "/BANKA/authorization.sca.oauth2";

Deno.test("GET authorization.sca.oauth2 rejects what is not exactly one sealed JWT [BR-N1] [BR1] [BR14] [BR17] [A10]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const sealed = await sealToPlatform(env, jws);
  const segments = sealed.split(".");
  const flattened = { protected: segments[0], encrypted_key: segments[1], iv: segments[2] };
  const cases = {
    "missing": PATH,
    "empty": `${PATH}?oAuthUrl=`,
    "another parameter's name": `${PATH}?oauthurl=${sealed}`,
    "twice": `${PATH}?oAuthUrl=${sealed}&oAuthUrl=${sealed}`,
    "twice, once empty": `${PATH}?oAuthUrl=&oAuthUrl=${sealed}`,
    "not a JWE": returnTo("BANKA", "hello"),
    "signed only": returnTo("BANKA", jws),
    "four segments": returnTo("BANKA", segments.slice(0, 4).join(".")),
    "six segments": returnTo("BANKA", `${sealed}.AAAA`),
    "an empty segment": returnTo("BANKA", sealed.replace(`.${segments[1]}.`, "..")),
    "a newline behind": returnTo("BANKA", `${sealed}\n`),
    "a space in front": returnTo("BANKA", ` ${sealed}`),
    "padding": returnTo("BANKA", sealed.replace(".", "=.")),
    "JSON serialisation": returnTo("BANKA", JSON.stringify(flattened)),
    "an outer header that is no JSON": returnTo(
      "BANKA",
      [segment("{"), ...segments.slice(1)].join("."),
    ),
    "an outer header that is an array": returnTo(
      "BANKA",
      [segment([]), ...segments.slice(1)].join("."),
    ),
  };
  for (const [name, path] of Object.entries(cases)) {
    await t.step(name, () => assertNotAuthentic(env, flow.browser, path));
  }
  await t.step("more than 8 KiB, though it would decrypt", async () => {
    const long = await signedReturn(env, flow, { claims: { padding: "x".repeat(4000) } });
    const path = await sealedReturn(env, "BANKA", long);
    assertEquals([long.length < 8192, path.length > 8192 + 100], [true, true]);
    await assertNotAuthentic(env, flow.browser, path);
  });
  await t.step("1 MB", () => assertNotAuthentic(env, flow.browser, returnTo("BANKA", "A".repeat(1e6))));
  await t.step("none of it touched the flow, and 7 KiB are fine [BR14]", async () => {
    const long = await signedReturn(env, flow, { claims: { padding: "x".repeat(3200) } });
    const path = await sealedReturn(env, "BANKA", long);
    assertEquals(path.length > 7 * 1024, true);
    await assertCodeAnswer(await flow.browser.open(path));
  });
});

Deno.test("GET authorization.sca.oauth2 rejects a JWE to another key or altered in any part [BR-N2] [BR17]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const sealed = await sealToPlatform(env, jws);
  const { kid } = await platformEncryptionKey(env);
  const outsider = await (await testKey(10)).publicKey("encrypt");
  const good = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid };
  await t.step("sealed to an outsider's key under the platform's kid", async () => {
    const token = await rawJwe({ header: good, plaintext: jws, to: outsider });
    await assertNotAuthentic(env, flow.browser, returnTo("BANKA", token));
  });
  for (const [index, part] of ["header", "encrypted key", "iv", "ciphertext", "tag"].entries()) {
    await t.step(`${part} altered`, async () => {
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", altered(sealed, index)));
    });
    await t.step(`${part} cut short`, async () => {
      const segments = sealed.split(".");
      segments[index] = (segments[index] ?? "").slice(0, -4);
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", segments.join(".")));
    });
  }
  await t.step("an encrypted key of another length", async () => {
    const segments = sealed.split(".");
    segments[1] = "AAAA";
    await assertNotAuthentic(env, flow.browser, returnTo("BANKA", segments.join(".")));
  });
  await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
});

Deno.test("GET authorization.sca.oauth2 rejects outer headers off the allow list, though the content would decrypt [BR-N2] [BR-N3] [BR2] [A10]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const { keys } = await (await env.browser(new Request("https://auth.platform.example/jwks"))).json();
  const signingKid = keys.find(({ use }: { use: string }) => use === "sig").kid;
  const headers: Record<string, Record<string, unknown>> = {
    ...Object.fromEntries(
      [
        "RSA1_5",
        "RSA-OAEP",
        "RSA-OAEP-512",
        "dir",
        "A256KW",
        "ECDH-ES",
        "PBES2-HS512+A256KW",
        "none",
        "rsa-oaep-256",
      ]
        .map((alg) => [`alg ${alg}`, { alg }]),
    ),
    "alg PBES2 with two thousand million rounds": {
      alg: "PBES2-HS512+A256KW",
      p2c: 2 ** 31 - 1,
      p2s: "AAAA",
    },
    ...Object.fromEntries(
      ["A128CBC-HS256", "A256CBC-HS512", "A128GCM", "A192GCM", "none"].map((enc) => [`enc ${enc}`, { enc }]),
    ),
    "alg missing": { alg: undefined },
    "enc missing": { enc: undefined },
    "[BR-N3] zip DEF": { zip: "DEF" },
    "[BR-N3] zip of another kind": { zip: "none" },
    "crit": { crit: ["exp"], exp: 1 },
    "crit empty": { crit: [] },
    "jwk": { jwk: (await testKey(10)).publicJwk },
    "jku": { jku: "http://127.0.0.1/jwks" },
    "x5u": { x5u: "https://directory.example/ca.pem" },
    "x5c": { x5c: [env.bankA.signing.certificate] },
    "epk": { epk: {} },
    "apu": { apu: "AAAA" },
    "p2c": { p2c: 1 },
    "iss": { iss: "BANKA" },
    "kid missing": { kid: undefined },
    "kid unknown": { kid: "another" },
    "kid of the platform's signing key": { kid: signingKid },
    "kid a number": { kid: 1 },
    "kid an array": { kid: ["platform-enc"] },
    "kid __proto__": { kid: "__proto__" },
    "cty of another kind": { cty: "application/json" },
    "cty a number": { cty: 1 },
  };
  const fetched = env.fetched.length;
  for (const [name, header] of Object.entries(headers)) {
    await t.step(name, async () => {
      const token = await sealedUnderHeader(env, jws, header);
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", token));
    });
  }
  await t.step("a header with alg twice", async () => {
    const { kid, key } = await platformEncryptionKey(env);
    const header = `{"alg":"none","alg":"RSA-OAEP-256","enc":"A256GCM","kid":"${kid}"}`;
    const token = await rawJwe({ header, plaintext: jws, to: key });
    await assertNotAuthentic(env, flow.browser, returnTo("BANKA", token));
  });
  await t.step("nothing was fetched [J10]", () => assertEquals(env.fetched.length, fetched));
});

Deno.test("GET authorization.sca.oauth2 rejects real JWEs of other algorithms [BR-N2]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = new TextEncoder().encode(await signedReturn(env, flow));
  const { kid } = await platformEncryptionKey(env);
  const { publicJwk } = await testKey(13);
  const sha1 = { name: "RSA-OAEP", hash: "SHA-1" };
  const sha256 = { name: "RSA-OAEP", hash: "SHA-256" };
  const cases = [["RSA-OAEP", "A256GCM", sha1], ["RSA-OAEP-256", "A128CBC-HS256", sha256]] as const;
  for (const [alg, enc, algorithm] of cases) {
    await t.step(`${alg} ${enc}`, async () => {
      const key = await crypto.subtle.importKey("jwk", { ...publicJwk }, algorithm, true, ["encrypt"]);
      const token = await new CompactEncrypt(jws).setProtectedHeader({ alg, enc, cty: "JWT", kid }).encrypt(
        key,
      );
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", token));
    });
  }
});

Deno.test("GET authorization.sca.oauth2 accepts cty in any case, or none [BR2]", async (t) => {
  await using env = await openEnvironment();
  for (const cty of ["JWT", "jwt", undefined]) {
    await t.step(String(cty), async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      const token = await sealedUnderHeader(env, await signedReturn(env, flow), { cty });
      await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", token)));
    });
  }
});

Deno.test("GET authorization.sca.oauth2 rejects a JWE around anything but one compact JWS [BR-N4] [BR-N16] [BR3]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const none = segment({ alg: "none", typ: "JWT", kid: env.bankA.signing.kid });
  const key = await env.bankA.signing.key.privateKey("sign");
  const inner = { alg: "PS256", typ: "JWT", kid: env.bankA.signing.kid };
  const handover = await openHandover(env.bankA, await reopened(env, flow.requestUri));
  const plaintexts = {
    "the claims, unsigned": new TextDecoder().decode(
      Uint8Array.fromBase64(payload, { alphabet: "base64url" }),
    ),
    "alg none without signature": `${none}.${payload}.`,
    "alg none with the signature kept": `${none}.${payload}.${signature}`,
    "a JWE": await sealToPlatform(env, jws),
    "trailing bytes": `${jws}AAAA.x`,
    "a trailing newline": `${jws}\n`,
    "a leading BOM": `\ufeff${jws}`,
    "padding": `${jws}==`,
    "two JWS": `${jws}.${jws}`,
    "JSON serialisation": JSON.stringify({ protected: header, payload, signature }),
    "a detached payload": `${header}..${signature}`,
    "claims twice": await rawJws(key, inner, '{"iss":"BANKB","iss":"BANKA"}'),
    "claims that are no object": await rawJws(key, inner, "[]"),
    "claims that are no JSON": await rawJws(key, inner, "hello"),
    "claims that are no UTF-8": await rawJws(key, inner, new Uint8Array([0x7b, 0xff, 0x7d])),
    "a JWE as payload": await rawJws(key, inner, await sealToPlatform(env, jws)),
    "nothing": "",
    "[BR-N16] the platform's own claims, signed by the bank": await rawJws(key, inner, handover.claims),
  };
  for (const [name, plaintext] of Object.entries(plaintexts)) {
    await t.step(name, async () => {
      await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", plaintext));
    });
  }
});

async function reopened(
  env: Awaited<ReturnType<typeof openEnvironment>>,
  requestUri: string,
): Promise<Response> {
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: requestUri });
  return await env.browser(
    new Request(`https://auth.platform.example/BANKA/authorization.oauth2?${query}`),
  );
}

/** The token with one bit of a segment's first byte flipped. */
function altered(token: string, index: number): string {
  const segments = token.split(".");
  const bytes = Uint8Array.fromBase64(segments[index] ?? "", { alphabet: "base64url" });
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  segments[index] = segment(bytes);
  return segments.join(".");
}
