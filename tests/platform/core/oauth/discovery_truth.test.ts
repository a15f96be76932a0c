import { assertEquals, assertMatch } from "@std/assert";
import { bodyOf, type OAuthError, type ServerMetadata } from "testing/answers.ts";
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
import { authorised, authorize, Browser } from "testing/authorization_flow.ts";
import { clientAssertion, dpopProof, type JsonObject } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";

const API = "https://api.platform.example";

Deno.test("What metadata advertises works, and what it does not advertise is rejected [MD-N7] [MD10]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("There is no revocation and no introspection endpoint, on either host, and metadata names none [FAPI-D22]", async () => {
  await using env = await openEnvironment();
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
