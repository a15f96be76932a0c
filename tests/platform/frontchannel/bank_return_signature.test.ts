import { assertEquals } from "@std/assert";
import { compactDecrypt } from "jose";
import {
  assertNotAuthentic,
  IMPLICIT,
  returnTo,
  sealedReturn,
  signedReturn,
} from "../../../scripts/testing/bank_return.ts";
import { authentication, clientToken, requestToken } from "../../../scripts/testing/flows.ts";
import {
  type AtBank,
  authorize,
  Browser,
  putAccounts,
  returnClaims,
  toBank,
} from "../../../scripts/testing/authorization_flow.ts";
import { assertCodeAnswer, assertNothingChanges } from "../../../scripts/testing/front_channel.ts";
import { type JsonObject, sealToPlatform, signJwt, withChanges } from "../../../scripts/testing/jwts.ts";
import { testKey } from "../../../scripts/testing/keys.ts";
import { adminCall } from "../../../scripts/testing/participants.ts";
import { type Environment, openEnvironment } from "../../../scripts/testing/environment.ts";
import { importPrivate, rawJws, segment } from "../../../scripts/testing/raw_jws.ts";

Deno.test("GET authorization.sca.oauth2 takes PS256, typ JWT and a kid of the path's bank alone [BR-N5] [BR4] [A11]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const bankKey = await env.bankA.signing.key.privateKey("sign");
  const attacker = await testKey(10);
  const headers: Record<string, JsonObject> = {
    "typ missing": { typ: undefined },
    "typ JOSE": { typ: "JOSE" },
    "typ dpop+jwt": { typ: "dpop+jwt" },
    "typ a number": { typ: 1 },
    "typ empty": { typ: "" },
    "kid missing": { kid: undefined },
    "kid empty": { kid: "" },
    "kid a number": { kid: 1 },
    "kid an object": { kid: {} },
    "kid unknown": { kid: "A".repeat(27) },
    "kid of bank B": { kid: env.bankB.signing.kid },
    "kid of the TPP": { kid: env.tpp.signing.kid },
    "kid of the bank's tls key": { kid: env.bankA.transport.kid },
    "kid of the platform": { kid: await platformKid(env) },
    "kid as a path": { kid: "../../etc/passwd" },
    "kid of 1,000 characters": { kid: "A".repeat(1000) },
    "kid __proto__": { kid: "__proto__" },
    "kid with two =": { kid: `${env.bankA.signing.kid}==` },
    "crit": { crit: ["exp"], exp: 1 },
    "crit empty": { crit: [] },
    "b64 false": { b64: false },
    "zip": { zip: "DEF" },
    "alg in lower case": { alg: "ps256" },
    "alg none with a signature": { alg: "none" },
    "alg missing": { alg: undefined },
    "alg RS256 over a PS256 signature": { alg: "RS256" },
    "alg PS384 over a PS256 signature": { alg: "PS384" },
  };
  for (const [name, header] of Object.entries(headers)) {
    await t.step(name, async () => {
      const good = { alg: "PS256", typ: "JWT", kid: env.bankA.signing.kid };
      const jws = await rawJws(bankKey, withChanges(good, header), claimsOf(env, flow));
      await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
    });
  }
  const fetched = env.fetched.length;
  const brought: Record<string, JsonObject> = {
    "jwk": { jwk: attacker.publicJwk },
    "jku": { jku: "http://127.0.0.1:1/jwks" },
    "x5u": { x5u: "https://directory.example/evil.pem" },
    "x5c with the attacker's certificate": { x5c: [env.otherTpp.signing.certificate] },
    "the bank's own x5c": { x5c: [env.bankA.signing.certificate] },
  };
  for (const [name, header] of Object.entries(brought)) {
    await t.step(`${name}, signed by an outsider [J9] [J10] [J11]`, async () => {
      const good = { alg: "PS256", typ: "JWT", kid: env.bankA.signing.kid };
      const jws = await rawJws(
        await attacker.privateKey("sign"),
        { ...good, ...header },
        claimsOf(env, flow),
      );
      await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
    });
  }
  await t.step("nothing was fetched", () => assertEquals(env.fetched.length, fetched));
});

Deno.test("GET authorization.sca.oauth2 rejects signatures that are not the bank's PS256 [BR-N5] [J2] [J3] [J4]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const { key, kid } = env.bankA.signing;
  const claims = claimsOf(env, flow);
  const input = (alg: string): string => `${segment({ alg, typ: "JWT", kid })}.${segment(claims)}`;
  const signed = async (algorithm: RsaHashedImportParams, params: AlgorithmIdentifier | RsaPssParams) =>
    await crypto.subtle.sign(
      params,
      await importPrivate(key.privateJwk, algorithm, "sign"),
      new TextEncoder().encode(input("PS256")),
    );
  const pss = { name: "RSA-PSS", hash: "SHA-256" };
  const signatures = {
    "RSASSA-PKCS1-v1_5": await signed(
      { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
      "RSASSA-PKCS1-v1_5",
    ),
    "salt of 20 bytes": await signed(pss, { name: "RSA-PSS", saltLength: 20 }),
    "no salt": await signed(pss, { name: "RSA-PSS", saltLength: 0 }),
    "SHA-384": await signed({ name: "RSA-PSS", hash: "SHA-384" }, { name: "RSA-PSS", saltLength: 48 }),
    "one byte": new Uint8Array([1]).buffer,
    "all zeros": new Uint8Array(256).buffer,
  };
  for (const [name, signature] of Object.entries(signatures)) {
    await t.step(name, async () => {
      const jws = `${input("PS256")}.${segment(new Uint8Array(signature))}`;
      await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
    });
  }
  await t.step("HS256 with the public key as secret", async () => {
    const secret = new TextEncoder().encode(JSON.stringify(key.publicJwk));
    const hmac = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
    ]);
    const bytes = await crypto.subtle.sign("HMAC", hmac, new TextEncoder().encode(input("HS256")));
    const jws = `${input("HS256")}.${segment(new Uint8Array(bytes))}`;
    await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
  });
  await t.step("a real RS256 under its own name", async () => {
    const rs = await importPrivate(
      key.privateJwk,
      { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
      "sign",
    );
    const bytes = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", rs, new TextEncoder().encode(input("RS256")));
    const jws = `${input("RS256")}.${segment(new Uint8Array(bytes))}`;
    await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
  });
  await t.step("a byte of the payload changed after signing", async () => {
    const [header = "", payload = "", signature = ""] = (await signedReturn(env, flow)).split(".");
    const other = segment(new TextDecoder().decode(fromSegment(payload)).replace("customer-1", "customer-2"));
    await assertNotAuthentic(
      env,
      flow.browser,
      await sealedReturn(env, "BANKA", `${header}.${other}.${signature}`),
    );
  });
});

Deno.test("GET authorization.sca.oauth2 takes no bank's word for another [BR-N6] [BR-N7] [BR8] [J29] [AUT-11] [CT17]", async (t) => {
  await using env = await openEnvironment();
  const atA = await toBank(env, { body: IMPLICIT });
  const atB = await toBank(env, { bank: env.bankB, body: IMPLICIT });
  const byB = (claims: JsonObject): Promise<string> =>
    signJwt(env.bankB.signing, { ...claimsOf(env, atA), ...claims });
  const returns = {
    "[BR-N6] signed by bank B as itself, on A's path": [byB({ iss: "BANKB", bank_id: "BANKB" }), "BANKA"],
    "[BR-N6] signed by bank B as bank A": [byB({}), "BANKA"],
    "[BR-N7] signed by A with bank_id B": [
      signedReturn(env, atA, { claims: { bank_id: "BANKB" } }),
      "BANKA",
    ],
    "A's answer on B's path": [signedReturn(env, atA), "BANKB"],
    "A's answer as B on B's path": [
      signedReturn(env, atA, { claims: { iss: "BANKB", bank_id: "BANKB" } }),
      "BANKB",
    ],
    "B's good answer to a customer of A [BR8]": [byB({ iss: "BANKB", bank_id: "BANKB" }), "BANKB"],
    "signed by the TPP": [signJwt(env.tpp.signing, claimsOf(env, atA)), "BANKA"],
    "bank_id in lower case": [signedReturn(env, atA, { claims: { bank_id: "banka" } }), "BANKA"],
    "bank_id missing": [signedReturn(env, atA, { claims: { bank_id: undefined } }), "BANKA"],
    "bank_id an array": [signedReturn(env, atA, { claims: { bank_id: ["BANKA"] } }), "BANKA"],
  } as const;
  for (const [name, [jws, path]] of Object.entries(returns)) {
    await t.step(name, async () => {
      await assertNotAuthentic(env, atA.browser, await sealedReturn(env, path, await jws));
    });
  }
  await t.step("both flows end well all the same", async () => {
    for (const flow of [atA, atB]) {
      const path = await sealedReturn(env, flow.bank.orgId, await signedReturn(env, flow));
      await assertCodeAnswer(await flow.browser.open(path), flow.bank.orgId);
    }
  });
});

Deno.test("GET authorization.sca.oauth2 rejects the platform's own JWT, sealed back to the platform [BR-N16]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const browser = new Browser(env);
  const departure = await authorize(browser, env.tpp, flow.requestUri);
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  const bankKey = await (env.bankA.encryption ?? env.bankA.transport).key.privateKey("decrypt");
  const jws = new TextDecoder().decode((await compactDecrypt(sealed, bankKey)).plaintext);
  await assertNotAuthentic(env, browser, returnTo("BANKA", await sealToPlatform(env, jws)));
});

Deno.test("GET authorization.sca.oauth2 takes the kid with or without its padding [BR4] [A11]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow, { header: { kid: `${env.bankA.signing.kid}=` } });
  await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
});

Deno.test("GET authorization.sca.oauth2 rejects a key from the moment the platform knows it revoked [BR4] [J35]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const path = `/participants/BANKA/keys/${env.bankA.signing.kid}/revoke`;
  assertEquals((await adminCall(env, "POST", path, { reason: "key compromised" })).status, 200);
  env.now += 301_000; // key sets are kept 300 s
  const jws = await signedReturn(env, flow);
  await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
});

Deno.test("A bank's return JWT is no client assertion and no payload signature [BR-N18] [J26]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const jws = await signedReturn(env, flow);
  await t.step("client_assertion", async () => {
    const form = { ...await authentication(env, env.bankA, "BANKA"), client_assertion: jws };
    const answer = await assertNothingChanges(
      env,
      () => requestToken(env, env.bankA, "BANKA", { form }),
    );
    assertEquals([answer.status, (await answer.json()).error], [401, "invalid_client"]);
  });
  await t.step("x-jws-signature, whole and detached", async () => {
    const bound = await clientToken(env, env.bankA, "BANKA");
    const [header = "", , signature = ""] = jws.split(".");
    const codes = {
      [jws]: "UK.OBIE.Signature.Malformed",
      [`${header}..${signature}`]: "UK.OBIE.Signature.InvalidClaim",
    };
    for (const [signatureHeader, code] of Object.entries(codes)) {
      const answer = await assertNothingChanges(
        env,
        () => putAccounts(env, env.bankA, flow.consentId, undefined, { bound, signature: signatureHeader }),
      );
      assertEquals([answer.status, (await answer.json()).Errors[0].ErrorCode], [400, code]);
    }
  });
});

function claimsOf(env: Environment, flow: AtBank): JsonObject {
  return returnClaims(env, flow.bank, flow.handover);
}

function fromSegment(text: string): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

async function platformKid(env: Environment): Promise<string> {
  const { keys } = await (await env.browser(new Request("https://auth.platform.example/jwks"))).json();
  return keys.find(({ use }: { use: string }) => use === "sig").kid;
}
