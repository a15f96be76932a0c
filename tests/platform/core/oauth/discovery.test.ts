/**  */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  bodyOf,
  type OAuthError,
  type PlatformKeys,
  rejectionOf,
  type ServerMetadata,
} from "testing/answers.ts";
import {
  clientToken,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  good,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { assertBrowserHeaders, assertCodeAnswer, BROWSER_HEADERS } from "testing/front_channel.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { X509Certificate } from "@peculiar/x509";
import { CompactEncrypt, importJWK } from "jose";
import { IMPLICIT, returnTo, signedReturn } from "testing/bank_return.ts";
import { authorised, authorize, Browser, openHandover, toBank } from "testing/authorization_flow.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { clientAssertion, dpopProof, type JsonObject } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import "reflect-metadata";
import { open } from "support/open_page.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const METADATA = "/.well-known/oauth-authorization-server/BANKA";

const AUTH = "https://auth.platform.example";

const API = "https://api.platform.example";

const CACHED = { ...BROWSER_HEADERS, "cache-control": "public, max-age=300" };

test("GET metadata says exactly what this profile is, for each bank [MD1] [MD2] [MD3] [MD4] [MD5] [MD10] [A1] [FAPI-D1] [FAPI-G3]", async ({ env, t }) => {
  await stepsOf(t, ["BANKA", "BANKB"], (bank) => bank, async (bank) => {
    const answer = await open(env, `/.well-known/oauth-authorization-server/${bank}`);
    assertEquals([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
    assertBrowserHeaders(answer, CACHED);
    assertEquals(await answer.json(), {
      issuer: `${AUTH}/${bank}`,
      authorization_endpoint: `${AUTH}/${bank}/authorization.oauth2`,
      token_endpoint: `${API}/${bank}/token.oauth2/v1`,
      pushed_authorization_request_endpoint: `${API}/${bank}/par.oauth2/v1`,
      require_pushed_authorization_requests: true,
      registration_endpoint: `${API}/register/v1`,
      jwks_uri: `${AUTH}/jwks`,
      scopes_supported: ["payments"],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "client_credentials"],
      token_endpoint_auth_methods_supported: ["private_key_jwt"],
      token_endpoint_auth_signing_alg_values_supported: ["PS256"],
      code_challenge_methods_supported: ["S256"],
      dpop_signing_alg_values_supported: ["PS256"],
      authorization_response_iss_parameter_supported: true,
      ui_locales_supported: ["en", "es", "fr", "ar"],
      service_documentation: `${AUTH}/docs`,
    });
  });
});

test("GET metadata: the issuer is the one that the URL was built from, between host and path [MD1] [MD2]", async ({ env }) => {
  const { issuer } = await good<ServerMetadata>(open(env, METADATA), 200);
  const { origin, pathname, search, hash } = new URL(issuer);
  assertEquals([issuer, `${origin}${pathname}`, search, hash], [`${AUTH}/BANKA`, issuer, "", ""]);
  assertEquals(`${origin}/.well-known/oauth-authorization-server${pathname}`, `${AUTH}${METADATA}`);
});

test("GET metadata: every endpoint is an absolute https URL that answers [MD5] [MD-N7]", async ({ env }) => {
  const metadata = await good<ServerMetadata>(open(env, METADATA), 200);
  const named = Object.entries(metadata).filter(([, value]) => String(value).startsWith("https:"));
  assertEquals(named.length, 7);
  for (const [name, value] of named) {
    const url = new URL(String(value));
    assertEquals([url.href, url.protocol, url.hash], [value, "https:", ""], name);
    if (name === "issuer") continue;
    const send = url.origin === API ? env.api : env.browser;
    const { status } = await send(new Request(url, { method: url.origin === API ? "POST" : "GET" }));
    assertNotEquals(status, 404, name);
  }
});

test("GET metadata of what is no bank's issuer: 404, no default issuer [MD-N1] [MD-N2] [MD-N8] [A4]", async ({ env, t }) => {
  const paths = {
    "[MD-N1] unknown bank": "/.well-known/oauth-authorization-server/BANKC",
    "[MD-N1] lower case": "/.well-known/oauth-authorization-server/banka",
    "[MD-N1] a TPP": `/.well-known/oauth-authorization-server/${env.tpp.orgId}`,
    "[MD-N1] no bank": "/.well-known/oauth-authorization-server",
    "[MD-N1] an empty bank": "/.well-known/oauth-authorization-server/",
    "[MD-N1] a slash behind": `${METADATA}/`,
    "[MD-N1] 3,000 characters": `/.well-known/oauth-authorization-server/${"A".repeat(3000)}`,
    "[MD-N1] an encoded path": "/.well-known/oauth-authorization-server/BANKA%2F..%2FBANKB",
    "[MD-N2] appended": "/BANKA/.well-known/oauth-authorization-server",
    "[MD-N8] OpenID configuration": "/.well-known/openid-configuration",
    "[MD-N8] OpenID configuration of a bank": "/BANKA/.well-known/openid-configuration",
    "[MD-N8] inserted": "/.well-known/openid-configuration/BANKA",
    "[MD9] no protected resource metadata here": "/.well-known/oauth-protected-resource/BANKA",
    "[MD10] no introspection": "/BANKA/introspect",
    "[MD10] no revocation": "/BANKA/revoke",
    "[MD10] no userinfo": "/BANKA/userinfo",
  };
  await steps(t, paths, async (path) => {
    const answer = await open(env, path);
    assertEquals([answer.status, answer.headers.get("content-type")], [404, "application/json"]);
    assertBrowserHeaders(answer);
    const body = await rejectionOf(answer);
    assertEquals([Object.keys(body), body.error], [["error", "error_description"], "not_found"]);
  });
});

test("Metadata and keys have no other methods than GET and HEAD [MD-N3]", async ({ env, t }) => {
  for (const path of [METADATA, "/jwks"]) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      await t.step(`${method} ${path}`, async () => {
        const answer = await unchanged(env, () => open(env, path, { method }));
        assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, HEAD"]);
        assertBrowserHeaders(answer);
        await answer.body?.cancel();
      });
    }
  }
});

test("Metadata and keys come from configuration, whatever Host says, and need no certificate [MD-N4] [A6] [A7]", async ({ env }) => {
  for (const path of [METADATA, "/jwks"]) {
    const expected = await (await open(env, path)).text();
    const evil = new Request(`https://evil.example${path}?issuer=https://evil.example`, {
      headers: {
        host: "evil.example",
        forwarded: "host=evil.example;proto=http",
        "x-forwarded-host": "evil.example",
        "x-forwarded-prefix": "/evil",
        "client-cert": ":AAAA:",
      },
    });
    const answer = await env.browser(evil);
    assertEquals([answer.status, await answer.text()], [200, expected]);
  }
});

const JWKS = "https://auth.platform.example/jwks";

interface PublicKey {
  readonly kid: string;
  readonly use: string;
  readonly n: string;
  readonly e: string;
  readonly [member: string]: unknown;
}

const keysIn = (set: string): PlatformKeys["keys"] => (JSON.parse(set) as PlatformKeys).keys;

test("GET jwks: one sig and one enc key, each with kid and use, cacheable for 300 s [MD6] [MD8] [MD-N6] [A11]", async ({ env }) => {
  const answer = await env.browser(new Request(JWKS));
  assertEquals([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
  assertBrowserHeaders(answer, { ...BROWSER_HEADERS, "cache-control": "public, max-age=300" });
  const body = await bodyOf<PlatformKeys>(answer);
  assertEquals(Object.keys(body), ["keys"]);
  const [sig, enc] = body.keys;
  assertEquals(body.keys.length, 2);
  assertEquals([sig?.use, sig?.kty, sig?.alg], ["sig", "RSA", "PS256"]);
  assertEquals([enc?.use, enc?.kty, enc?.alg], ["enc", "RSA", "RSA-OAEP-256"]);
  assertNotEquals(sig?.kid, enc?.kid);
});

test("GET jwks shows public members alone, and no pointers [MD-N5] [MD6]", async ({ env }) => {
  const allowed = {
    sig: ["alg", "e", "kid", "kty", "n", "use", "x5c", "x5t", "x5t#S256"],
    enc: ["alg", "e", "kid", "kty", "n", "use"],
  };
  for (const key of await publishedKeys(env)) {
    assertEquals(Object.keys(key).toSorted(), allowed[key.use as "sig" | "enc"]);
  }
  const text = await (await env.browser(new Request(JWKS))).text();
  const secrets = keysIn(await platformKeySet()).flatMap((key) =>
    (["d", "p", "q", "dp", "dq", "qi"] as const).map((member) => key[member] ?? "")
  );
  assertEquals(secrets.length, 12);
  for (const secret of secrets) assertEquals(text.includes(secret), false);
});

test("GET jwks: RSA of at least 2048 bits, a pair for each purpose, none of a participant [MD6] [MD7] [FAPI-G6]", async ({ env }) => {
  const keys = await publishedKeys(env);
  const certified = [env.tpp, env.otherTpp, env.bankA, env.bankB].flatMap((participant) =>
    [participant.signing, participant.transport, participant.encryption].flatMap((key) =>
      key?.key.publicJwk.n ?? []
    )
  );
  for (const { n, e } of keys) {
    const modulus = Uint8Array.fromBase64(n, { alphabet: "base64url" });
    assertEquals([modulus.length >= 256, (modulus[0] ?? 0) >= 128, e], [true, true, "AQAB"]);
    assertEquals(certified.includes(n), false);
  }
  assertEquals(new Set(keys.map(({ n }) => n)).size, keys.length);
});

test("GET jwks: the signing key is its certificate's, and its kid, x5t and x5t#S256 are that certificate's [A11] [MD6]", async ({ env }) => {
  const sig = (await publishedKeys(env)).find(({ use }) => use === "sig");
  const [certificate] = sig?.["x5c"] as string[];
  const der = Uint8Array.fromBase64(certificate ?? "");
  assertEquals([sig?.kid, sig?.["x5t"], sig?.["x5t#S256"]], [
    await digest("SHA-1", der),
    await digest("SHA-1", der),
    await digest("SHA-256", der),
  ]);
  const certified = await crypto.subtle.exportKey("jwk", await new X509Certificate(der).publicKey.export());
  assertEquals([certified.n, certified.e], [sig?.n, sig?.e]);
});

Deno.test("Key rotation: all keys are published, the first signs, every enc key still opens returns [MD8] [BR2]", async (t) => {
  const [current, former] = [await platformKeySet(10, 11), await platformKeySet(12, 13)];
  const rotated = JSON.stringify({ keys: [current, former].flatMap(keysIn) });
  await using env = await openEnvironment({ environment: { PLATFORM_KEYS: rotated } });
  const keys = await publishedKeys(env);
  assertEquals(keys.map(({ use }) => use), ["sig", "enc", "sig", "enc"]);
  assertEquals(new Set(keys.map(({ kid }) => kid)).size, 4);
  await t.step("the first sig key signs", async () => {
    const { requestUri } = await toBank(env, { body: IMPLICIT });
    const departure = await authorize(new Browser(env), env.tpp, requestUri);
    assertEquals((await openHandover(env.bankA, departure)).header["kid"], keys[0]?.kid);
  });
  await stepsOf(t, keys.filter(({ use }) => use === "enc"), (enc) => `sealed to ${enc.kid}`, async (enc) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const jws = new TextEncoder().encode(await signedReturn(env, flow));
    const token = await new CompactEncrypt(jws)
      .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid: enc.kid })
      .encrypt(await importJWK({ ...enc }, "RSA-OAEP-256"));
    await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", token)));
  });
});

async function publishedKeys(env: Environment): Promise<PublicKey[]> {
  return (await good<{ keys: PublicKey[] }>(env.browser(new Request(JWKS)), 200)).keys;
}

async function digest(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest(name, bytes)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}

test("What metadata advertises works, and what it does not advertise is rejected [MD-N7] [MD10]", async ({ env, t }) => {
  await t.step(
    "code, S256, PS256, private_key_jwt, authorization_code, client_credentials, iss",
    async () => {
      assertEquals((await pay(env, await authorised(env))).status, 201);
    },
  );
  const forms: Record<string, readonly [Record<string, string | undefined>, string]> = {
    "grant refresh_token": [{ grant_type: "refresh_token", refresh_token: "x" }, "unsupported_grant_type"],
    "grant password": [{ grant_type: "password", username: "u", password: "p" }, "unsupported_grant_type"],
    "grant implicit": [{ grant_type: "implicit" }, "unsupported_grant_type"],
    "scope openid": [{ scope: "openid" }, "invalid_scope"],
    "scope payments openid": [{ scope: "payments openid" }, "invalid_scope"],
  };
  for (const [name, [form, error]] of Object.entries(forms)) {
    await t.step(
      name,
      async () => assertRejected(await requestToken(env, env.tpp, "BANKA", { form }), 400, error),
    );
  }
  await t.step("client_secret_post", async () => {
    const form = { client_assertion: undefined, client_assertion_type: undefined, client_secret: "s" };
    await assertRejected(await requestToken(env, env.tpp, "BANKA", { form }), 400, "invalid_request");
  });
  await t.step("an assertion by RS256", async () => {
    const [, payload = ""] = (await clientAssertion(env, env.tpp, "BANKA")).split(".");
    const form = { client_assertion: await rs256(env, payload) };
    await assertRejected(await requestToken(env, env.tpp, "BANKA", { form }), 401, "invalid_client");
  });
  await t.step("a DPoP proof by another algorithm's name", async () => {
    const target = { method: "POST", url: `${API}/BANKA/token.oauth2/v1` };
    const good = await dpopProof(env, await testKey(9), target);
    const header = { alg: "RS256", typ: "dpop+jwt", jwk: (await testKey(9)).publicJwk };
    const proof = [encode(header), ...good.split(".").slice(1)].join(".");
    await assertRejected(await requestToken(env, env.tpp, "BANKA", { proof }), 400, "invalid_dpop_proof");
  });
  const pushes: Record<string, readonly [Record<string, string>, string]> = {
    "response_type token": [{ response_type: "token" }, "unsupported_response_type"],
    "response_type code id_token": [{ response_type: "code id_token" }, "unsupported_response_type"],
    "plain PKCE": [{ code_challenge_method: "plain" }, "invalid_request"],
    "a request object": [{ request: "eyJhbGciOiJub25lIn0.e30." }, "invalid_request"],
  };
  const bound = await clientToken(env, env.tpp);
  const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  const { ConsentId } = (await createConsent(env, bound, body)).Data;
  for (const [name, [form, error]] of Object.entries(pushes)) {
    await t.step(name, async () => assertRejected(await push(env, ConsentId, { form }), 400, error));
  }
  await t.step("an authorization request that was not pushed", async () => {
    const answer = await authorize(new Browser(env), env.tpp, "");
    assertEquals([answer.status, answer.headers.get("location")], [400, null]);
    await answer.body?.cancel();
  });
  await t.step("no ID token, no refresh token", async () => {
    const answer = await good(requestToken(env, env.tpp), 200);
    assertEquals(Object.keys(answer).toSorted(), ["access_token", "expires_in", "scope", "token_type"]);
    assertMatch(answer.access_token, /^[A-Za-z0-9_-]{43}$/);
  });
});

async function assertRejected(answer: Response, status: number, error: string): Promise<void> {
  assertEquals([answer.status, (await bodyOf<OAuthError>(answer)).error], [status, error]);
}

function encode(value: JsonObject): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}

async function rs256(env: Environment, payload: string): Promise<string> {
  const { kid, key } = env.tpp.signing;
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const signer = await crypto.subtle.importKey("jwk", { ...key.privateJwk }, algorithm, false, ["sign"]);
  const input = `${encode({ alg: "RS256", kid })}.${payload}`;
  const signature = await crypto.subtle.sign(algorithm.name, signer, new TextEncoder().encode(input));
  return `${input}.${new Uint8Array(signature).toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

test("There is no revocation and no introspection endpoint, on either host, and metadata names none [FAPI-D22]", async ({ env }) => {
  const metadata = await good<ServerMetadata>(
    env.browser(new Request(`${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`)),
    200,
  );
  assertEquals(Object.keys(metadata).filter((name) => /revo|introspect|userinfo/.test(name)), []);
  for (
    const path of ["revoke", "revocation.oauth2/v1", "introspect", "introspection.oauth2/v1", "userinfo"]
  ) {
    for (const method of ["GET", "POST"]) {
      const url = `/BANKA/${path}`;
      const api = await env.api(new Request(`${BASE_URL}${url}`, { method }), env.tpp);
      const browser = await env.browser(new Request(`${AUTH_URL}${url}`, { method }));
      assertEquals([api.status, browser.status], [404, 404], `${method} ${url}`);
    }
  }
});
